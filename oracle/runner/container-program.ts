import type { Loaded } from './container-load.ts';
import { codeUser, REPO, scratchOf } from './layout.ts';
import type { RunJob } from './runner.ts';

export interface RunningProgram {
  /** Stops it and all it has started. @returns what it printed */
  stop(): Promise<string>;
}

const PRINTS_AT_MOST = 64 * 2 ** 20;
const STOP_MS = 10_000;

/**
 * Starts the code under test under a user of its own, in the tree with the diff. Tests in the same container are
 * another user's: their files cannot be read, their processes not be touched; only what both send crosses.
 */
export function startProgram(
  job: RunJob,
  { box }: Loaded,
  at: number,
  environment: (home: string) => Record<string, string>,
): RunningProgram {
  const { program, timeout_s } = job.definition;
  const user = `${codeUser(at)}:${codeUser(at)}`;
  const home = scratchOf(`code-${at}`);
  const common = { user, cwd: REPO, env: environment(home), outputMax: PRINTS_AT_MOST };
  const argv = typeof program === 'string' ? ['/bin/sh', '-c', program] : (program ?? []);
  // It may outlast the tests, never the container.
  const running = box.exec({ ...common, argv, timeoutMs: timeout_s * 1000 + STOP_MS }).catch(() => null);
  return {
    async stop() {
      await box.exec({ ...common, argv: ['/bin/sh', '-c', 'kill -9 -1'], timeoutMs: STOP_MS });
      const end = await running;
      return end === null ? '' : `${end.refused ?? ''}${end.stdout}${end.stderr}`;
    },
  };
}
