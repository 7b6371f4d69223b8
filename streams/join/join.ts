import { FlipstreamError } from '../../schemas/errors.ts';
import { type KeyRing, type Rejection, rejectionOf } from '../../schemas/signature.ts';
import { isFrom, type Out, type Step, type StreamRecord } from '../record.ts';
import { derive } from './derive.ts';
import type { RejectionOf } from './judge.ts';
import { emptyState, type JoinState, mergeTrace, mergeVerdict } from './state.ts';

export interface JoinOptions {
  /** The keys whose verdicts count, configured on the streams' side, read from no topic. */
  keyRing: KeyRing;
}

const OUTPUTS = ['sessions', 'flips'] as const;
type Output = (typeof OUTPUTS)[number];

/**
 * Joins events and signed verdicts into `sessions` and `flips`, one a key. Any order and any repetition of
 * the same records gives the same last value for every key. Takes events as redact writes them: of those
 * with one chain and seq, all but one marked `fork`.
 */
export function createJoin({ keyRing }: JoinOptions) {
  const verified = rememberRejections(keyRing);
  return {
    group: 'join',
    inputs: ['trace.events', 'oracle.verdicts'] as const,
    outputs: OUTPUTS,
    apply: (given: JoinState | null, record: StreamRecord): Step<JoinState, Output> => {
      const state = given ?? emptyState();
      if (!merge(state, record)) return { state: given, out: [] };
      const sessionId = record.key;
      const { session, flips } = derive({ sessionId, state, rejectionOf: verified });
      const out: Out<Output>[] = [{ topic: 'sessions', key: sessionId, value: session }];
      for (const flip of flips)
        out.push({ topic: 'flips', key: `${sessionId}:${flip.task_id}`, value: flip });
      return { state, out };
    },
  };
}

function merge(state: JoinState, record: StreamRecord): boolean {
  if (isFrom(record, 'trace.events')) {
    if (record.key !== record.value.session_id)
      throw new FlipstreamError(
        'key_mismatch',
        'poison',
        `event ${record.value.event_id} lies under another session's key`,
      );
    return mergeTrace(state, record.value);
  }
  return isFrom(record, 'oracle.verdicts') ? mergeVerdict(state, record.value) : false;
}

const REMEMBERED = 20_000;

/** A signature is checked once, not at every event of its session: a check takes longer than all the rest. */
function rememberRejections(keyRing: KeyRing): RejectionOf {
  const known = new Map<string, Rejection | null>();
  return (hash, verdict) => {
    const before = known.get(hash);
    if (before !== undefined) return before;
    const answer = rejectionOf(verdict, keyRing);
    if (known.size >= REMEMBERED) known.clear();
    known.set(hash, answer);
    return answer;
  };
}
