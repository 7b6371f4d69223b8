import { appendFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../schemas/make-folder.ts';
import type { Heard } from '../capture.ts';
import type { Draft } from '../draft.ts';
import type { Home } from '../home.ts';
import type { RunEnvironment } from './env.ts';

/** Where the sessions of a run are listed as they start, a line of JSON each. */
export function runFile(home: Home, id: string): string {
  return join(home.root, 'runs', `${id}.jsonl`);
}

/**
 * What a session under `flipstream run` says of its run, beside what is true of its place; and tells the run which
 * session it is.
 */
export function runFacts(home: Home, run: RunEnvironment, heard: Heard): Draft['fields'] {
  const { sessionId, cwd, adapter, payload } = heard;
  try {
    const file = runFile(home, run.id);
    makeFolder(dirname(file));
    const line = { session_id: sessionId, harness: adapter?.harness ?? 'unknown', cwd };
    appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  } catch {
    // the run then finds no session, and says so
  }
  const own = payload === null ? undefined : adapter?.sessionId(payload);
  return { run_id: run.id, ...(own === undefined || own === sessionId ? {} : { original_id: own }) };
}
