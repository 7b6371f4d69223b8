import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { FlipstreamError } from '../schemas/errors.ts';
import { readJsonAs } from '../schemas/read-as.ts';
import type { OracleHome } from './home.ts';

const Settings = z.strictObject({
  /** Of the container engine; default: where Docker's is. */
  socket: z.string().min(1).optional(),
  /** An OCI runtime that the engine knows (gVisor's `runsc`, Kata's); default: the engine's own. */
  runtime: z.string().min(1).optional(),
  /** How long a diff is kept after it was last asked about, and what a run printed. */
  keep_days: z.number().int().min(1).default(365),
});
type Settings = z.infer<typeof Settings>;

/**
 * settings.json in the oracle's home, written by its operator; the defaults where there is none.
 * @throws FlipstreamError `oracle_settings` (usage) when it cannot be used.
 */
export function readOracleSettings(home: OracleHome): Settings {
  if (!existsSync(home.settings)) return Settings.parse({});
  const read = readJsonAs(Settings, () => readFileSync(home.settings, 'utf8'));
  if (read.ok) return read.data;
  const message = `${home.settings} cannot be used: ${read.problem}`;
  throw new FlipstreamError('oracle_settings', 'usage', message, read.cause);
}
