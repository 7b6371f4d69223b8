import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { FlipstreamError, messageOf } from '../schemas/errors.ts';
import { readAs } from '../schemas/read-as.ts';
import type { OracleHome } from './home.ts';

const Settings = z.strictObject({
  /** Of the container engine; default: where Docker's is. */
  socket: z.string().min(1).optional(),
  /** An OCI runtime that the engine knows (gVisor's `runsc`, Kata's); default: the engine's own. */
  runtime: z.string().min(1).optional(),
  /** How long a graded diff is kept after it was last asked about. */
  keep_diffs_days: z.number().int().min(1).default(365),
});
type Settings = z.infer<typeof Settings>;

/**
 * settings.json in the oracle's home, written by its operator; the defaults where there is none.
 * @throws FlipstreamError `oracle_settings` (usage) when it cannot be used.
 */
export function readOracleSettings(home: OracleHome): Settings {
  if (!existsSync(home.settings)) return Settings.parse({});
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(home.settings, 'utf8'));
  } catch (cause) {
    throw unusable(home, messageOf(cause), cause);
  }
  const read = readAs(Settings, json);
  if (read.ok) return read.data;
  throw unusable(home, read.problem, read.cause);
}

function unusable(home: OracleHome, why: string, cause: unknown): FlipstreamError {
  return new FlipstreamError('oracle_settings', 'usage', `${home.settings} cannot be used: ${why}`, cause);
}
