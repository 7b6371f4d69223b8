import type { Flip, Session } from '../../schemas/generated.ts';
import type { KeyRing } from '../../schemas/signature.ts';
import { createJoin } from '../join/join.ts';
import type { StreamRecord } from '../record.ts';
import { runReducer } from './run.ts';

export interface Joined {
  sessions: Record<string, Session>;
  flips: Record<string, Flip>;
}

/** The last value of every key after a join of the records, in the order given. */
export function joined(
  records: Iterable<StreamRecord>,
  keyRing: KeyRing,
  states: Map<string, string> = new Map(),
): Joined {
  const result: Joined = { sessions: {}, flips: {} };
  for (const out of runReducer(createJoin({ keyRing }), records, states).out) {
    if (out.topic === 'sessions') result.sessions[out.key] = out.value;
    else result.flips[out.key] = out.value;
  }
  return result;
}
