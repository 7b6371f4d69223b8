import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { FlipstreamError, messageOf } from '../schemas/errors.ts';
import { readAs } from '../schemas/read-as.ts';
import { type OracleHome, runPrefix } from './home.ts';
import { containerRunner } from './runner/container.ts';
import { processRunner } from './runner/process.ts';
import type { Runner, RunnerKind } from './runner/runner.ts';
import { type Found, searchImage } from './runner/search-image.ts';

/** settings.json in the oracle's home, written by its operator. */
const Settings = z.strictObject({
  /** Of the container engine; default: where Docker's is. */
  socket: z.string().min(1).optional(),
  /** An OCI runtime that the engine knows (gVisor's `runsc`, Kata's); default: the engine's own. */
  runtime: z.string().min(1).optional(),
});

/** Looks for lines of a fix in an image. */
export type ImageSearch = (image: string, lines: readonly string[]) => Promise<Found[]>;

export interface Running {
  runner: Runner;
  /** Null where no image is run. */
  searchImage: ImageSearch | null;
}

/**
 * The runner of a home, by what its key is for.
 * @throws FlipstreamError `oracle_settings` (usage) when settings.json cannot be used.
 */
export function runnerOf(home: OracleHome, kind: RunnerKind, oracleHost: string): Running {
  if (kind !== 'container')
    return { runner: processRunner({ prefix: runPrefix(oracleHost) }), searchImage: null };
  const { socket: socketPath, runtime } = readSettings(home);
  return {
    runner: containerRunner({ oracleHost, socketPath, runtime }),
    searchImage: (image, lines) => searchImage(image, lines, { socketPath, oracleHost }),
  };
}

function readSettings(home: OracleHome): z.infer<typeof Settings> {
  if (!existsSync(home.settings)) return {};
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
