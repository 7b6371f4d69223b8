import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Heard } from '../capture.ts';
import type { Draft } from '../draft.ts';
import type { Home } from '../home.ts';
import type { SessionStart } from '../session-start.ts';
import type { RunEnvironment } from './env.ts';

/** Where the sessions of a run are listed as they start, a line of JSON each. */
export function runFile(home: Home, id: string): string {
  return join(home.root, 'runs', `${id}.jsonl`);
}

/**
 * What a session under `flipstream run` says of its run, beside what is true of its place; and tells the run which
 * session it is.
 */
export function runFacts(
  home: Home,
  run: RunEnvironment,
  heard: Heard,
  start: SessionStart,
): Draft['fields'] {
  const { sessionId, cwd, adapter } = heard;
  try {
    const file = runFile(home, run.id);
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const line = { session_id: sessionId, harness: adapter?.harness ?? 'unknown', cwd };
    appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  } catch {
    // the run then finds no session, and says so
  }
  const most = start.fields._max_attempts;
  return {
    run_id: run.id,
    parent_session_id: run.parent === sessionId ? null : run.parent,
    ...(run.attempts === null || typeof most !== 'number'
      ? {}
      : { _max_attempts: Math.min(most, run.attempts) }),
  };
}
