/** A gate and an oracle's service of this process, to be stopped and started while sessions want to end. */
import { pino } from 'pino';
import { expect } from 'vitest';
import { exportKeyRing } from '../../oracle/keys/ring.ts';
import { type RunningOracle, startOracle } from '../../oracle/main.ts';
import type { Oracle } from '../../oracle/oracle.ts';
import { createToken } from '../../oracle/service/tokens.ts';
import { taskAdd } from '../../oracle/tasks/add.ts';
import { taskCheck } from '../../oracle/tasks/check.ts';
import {
  byContent,
  fakeRunner,
  makeOracle,
  makeRepository,
  runResult,
  taskDirectory,
} from '../../oracle/testing.ts';
import { entry, spool, told } from '../../producers/collector/testing.ts';
import { BLOCK_OUTPUT, runGate } from '../../producers/gate/gate.ts';
import { rememberSession } from '../../producers/gate/session-file.ts';
import type { Home } from '../../producers/home.ts';
import type { Settings } from '../../producers/settings.ts';
import { sha256 } from '../../schemas/hash.ts';
import type { KeyRing } from '../../schemas/signature.ts';
import type { Switched } from './capture.ts';

export interface Grading {
  oracle: Oracle;
  ring: KeyRing;
  /** For the collector; the oracle keeps its address over restarts. */
  settings: Settings;
  /** While it is pending, no grade is finished. */
  hold: { until: Promise<unknown> };
  start(log: Switched): Promise<void>;
  stop(): Promise<void>;
  /** Begins a session on the oracle's task. */
  begin(home: Home, sessionId: string): void;
  /** The agent wants to stop with this diff (one that holds `good` passes). @returns whether it is held */
  wantsToStop(home: Home, sessionId: string, diff: string, deadlineMs?: number): Promise<boolean>;
  end(home: Home, sessionId: string): void;
}

/** Only inside a test: everything of it goes when the test has finished. */
export async function createGrading(): Promise<Grading> {
  const hold: Grading['hold'] = { until: Promise.resolve() };
  const runner = fakeRunner(async (job) => {
    if (job.diff === null) return runResult(0, 1);
    await Promise.race([
      hold.until,
      new Promise((resolve) => job.signal?.addEventListener('abort', resolve)),
    ]);
    return byContent(job);
  });
  const oracle = makeOracle({ runner });
  await taskAdd(oracle, taskDirectory(makeRepository()));
  const { task_id, base_commit, root_commit } = (await taskCheck(oracle, 'demo-split-bill')).row;
  const token = createToken(oracle, 'host');
  let service: RunningOracle | null = null;

  const start = async (log: Switched, port = 0): Promise<string> => {
    const logger = pino({ level: 'silent' });
    service = await startOracle({ home: oracle.home, log, runner, bucketMs: 10, port, logger });
    return service.url;
  };
  const stop = async () => {
    await service?.stop();
    service = null;
  };
  // Once, for an address that nobody else has.
  const url = await start({ down: true, mute: false, publish: () => Promise.reject(new Error('not yet')) });
  await stop();

  return {
    oracle,
    ring: exportKeyRing(oracle.home, 'process'),
    settings: { v: 1, oracle: { url, token } },
    hold,
    start: async (log) => void (await start(log, Number(new URL(url).port))),
    stop,
    begin(home, session_id) {
      const facts = { task_id, base_commit, root_commit, _max_attempts: 3, task_source: 'dispatch' };
      spool(home, entry(told.start({ ...facts, tree_hash: 'clean', inherited: false }), { session_id }));
      spool(home, entry(told.prompt('fix it'), { session_id, payload: `${session_id} prompt` }));
      rememberSession(home, session_id, { task_id, base_commit, worktree: null, base_matches: true });
    },
    async wantsToStop(home, session_id, diff, deadlineMs) {
      spool(home, entry(told.stop('I am done.'), { session_id }));
      const stopEvent = { session_id, agent_id: null, cwd: '/', stop_hook_active: false };
      const printed = await runGate(
        { ...stopEvent, permission_mode: 'default', background_tasks: [] },
        {
          ...{ home, path: undefined, startCollector: () => {}, note: () => {}, deadlineMs },
          diff: async () => ({ diff: Buffer.from(diff), diffHash: sha256(diff) }),
        },
      );
      expect(['', BLOCK_OUTPUT]).toContain(printed);
      return printed === BLOCK_OUTPUT;
    },
    end: (home, session_id) => spool(home, entry(told.end(), { session_id })),
  };
}
