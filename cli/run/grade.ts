import { randomUUID } from 'node:crypto';
import { notice } from '../../producers/adapters/adapter.ts';
import { sessionEnd } from '../../producers/adapters/telling.ts';
import type { Draft, SpoolEntry } from '../../producers/draft.ts';
import { runGate } from '../../producers/gate/gate.ts';
import type { Home } from '../../producers/home.ts';
import { startCollector } from '../../producers/hook/start-collector.ts';
import { putEntry } from '../../producers/spool/put.ts';
import { isoTime } from '../../schemas/time.ts';
import type { Context } from '../command.ts';
import type { RunSession } from './sessions.ts';

/** Asks the gate as a stop hook does. @returns whether the agent is to go on */
export async function heldAtEnd({ config, io }: Context, session: RunSession): Promise<boolean> {
  const { home } = config;
  const printed = await runGate(
    {
      session_id: session.session_id,
      agent_id: null,
      cwd: session.cwd ?? config.cwd,
      stop_hook_active: false,
      permission_mode: null,
      background_tasks: [],
    },
    {
      home,
      path: io.env.PATH,
      startCollector: () => startCollector(home, io.env),
      note: (kind, reason) =>
        tell(home, session, { ...notice(kind, {}, { reason }), content: {} }, io.clock()),
    },
  );
  return printed !== '';
}

/** The run is over: what the gate told after the harness's own end is not to leave the session open. */
export function tellEnd(home: Home, session: RunSession, runId: string, ms: number): void {
  tell(home, session, { ...sessionEnd('run_ended'), content: {}, own_id: `run ${runId}` }, ms);
}

function tell(home: Home, { session_id, harness }: RunSession, draft: Draft, ms: number): void {
  const entry: SpoolEntry = {
    ...{ v: 1, ts: isoTime(ms), session_id, agent_id: null, harness, harness_event: 'flipstream run' },
    // of its own: nothing else tells the same
    ...{ registration: 'run', transport: 'command', payload_hash: randomUUID(), drafts: [draft] },
  };
  putEntry(home, entry, ms);
}
