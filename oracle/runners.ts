import { type OracleHome, runPrefix } from './home.ts';
import { containerRunner } from './runner/container.ts';
import { processRunner } from './runner/process.ts';
import type { Runner, RunnerKind } from './runner/runner.ts';
import { type Found, searchImage } from './runner/search-image.ts';
import { readOracleSettings } from './settings.ts';

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
  const { socket: socketPath, runtime } = readOracleSettings(home);
  return {
    runner: containerRunner({ oracleHost, socketPath, runtime }),
    searchImage: (image, lines) => searchImage(image, lines, { socketPath, oracleHost }),
  };
}
