import { DEFAULT_ATTEMPTS, MAX_ATTEMPTS } from '../project-config.ts';
import { outcomeOf, type SessionFacts } from './gate-policy.ts';
import type { Scalars } from './proto.ts';
import type { Core } from './session-state.ts';

/** What of a session's first start the gate lives by: checked, since a spool entry may be of any release. Names with `_` come from our own hook alone. */
export function factsOf(fields: Scalars): SessionFacts {
  const text = (name: string) => {
    const value = fields[name];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const { _max_attempts: attempts, _base_matches: matches } = fields;
  const given = typeof attempts === 'number' && Number.isInteger(attempts) && attempts >= 1;
  return {
    task_id: text('task_id'),
    base_commit: text('base_commit'),
    root_commit: text('root_commit'),
    worktree: text('_worktree'),
    max_attempts: given ? Math.min(attempts, MAX_ATTEMPTS) : DEFAULT_ATTEMPTS,
    base_matches: typeof matches === 'boolean' ? matches : null,
  };
}

/** What the collector adds to an end. */
export function endFields(core: Core, end: { ts: string; quiet: boolean }): Scalars {
  const { gate, facts } = core;
  return {
    outcome: outcomeOf(facts, gate, end.quiet),
    attempts: gate.fails + (gate.flipped ? 1 : 0),
    final_diff_hash: gate.diff_hash,
    ended_at: end.ts,
  };
}
