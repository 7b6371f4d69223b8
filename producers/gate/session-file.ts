import { join } from 'node:path';
import { sha256 } from '../../schemas/hash.ts';
import type { Home } from '../home.ts';
import { readState, writeState } from './state-file.ts';

/**
 * What the first SessionStart of an id found, kept so that the gate can tell, even with no collector to ask,
 * whether a session is graded at all and which tree it works in. Written once, never read from the project
 * again (design, "Ends").
 */
export interface SessionFile {
  task_id: string | null;
  base_commit: string | null;
  /** Root of the working tree; null outside a repository. */
  worktree: string | null;
  /** Whether HEAD was the task's base; null when only the oracle knows. False: it will not be graded. */
  base_matches: boolean | null;
}

function fileOf(home: Home, sessionId: string): string {
  return join(home.root, 'gate', `${sha256(sessionId)}.json`);
}

/** Keeps the facts of a session's first start; later starts change nothing. @throws when the disk refuses */
export function rememberSession(home: Home, sessionId: string, session: SessionFile): void {
  writeState(fileOf(home, sessionId), { v: 1, ...session }, 'once');
}

/** The facts kept, or null when there are none (the hooks were installed later, or the disk was full). */
export function recallSession(home: Home, sessionId: string): SessionFile | null {
  const state = readState(fileOf(home, sessionId));
  if (state?.v !== 1) return null;
  const text = (value: unknown) => (typeof value === 'string' ? value : null);
  return {
    task_id: text(state.task_id),
    base_commit: text(state.base_commit),
    worktree: text(state.worktree),
    base_matches: typeof state.base_matches === 'boolean' ? state.base_matches : null,
  };
}
