/** Which signed records count (oracle-design, "What is signed"; docs/design.md, "What must always hold" 6). */
import type { Verdict } from '../../schemas/generated.ts';
import type { Rejection } from '../../schemas/signature.ts';
import { get } from '../keyed.ts';
import type { Chain } from './chain.ts';
import type { JoinState, Request } from './state.ts';

/** Why a verdict under a key of the ring does not count, or null. Asked of the key ring, and remembered. */
export type RejectionOf = (hash: string, verdict: Verdict) => Rejection | null;

/** What stands of a verdict of mode grade. */
export type Judgement =
  | { stands: 'counts'; baseline: Verdict }
  /** It would count but for something that may come to light later: the flip is withdrawn, not unsaid. */
  | { stands: 'undone'; baseline: Verdict; reason: Undone }
  /** A signed ERROR of this session: no label. */
  | { stands: 'error' }
  | { stands: 'unsolicited' }
  | { stands: 'rejected'; reason: string };

type Undone = 'retracted' | 'revoked' | 'fork';

/** A verdict of mode grade with what stands of it. */
export interface Judged {
  hash: string;
  verdict: Verdict;
  judgement: Judgement;
}

/** What judging needs of a session. */
export interface Case {
  sessionId: string;
  state: JoinState;
  rejectionOf: RejectionOf;
}

/** Judges one verdict of mode grade. @param hash the verdict's key in the state */
export function judge(one: Case, hash: string, verdict: Verdict): Judgement {
  const { state, sessionId } = one;
  const refused = one.rejectionOf(hash, verdict);
  if (refused !== null && refused !== 'revoked') return rejected(refused);
  if (verdict.session_id !== sessionId) return rejected('session');
  const requests = verdict.request_id === null ? undefined : get(state.requests, verdict.request_id);
  if (!requests) return { stands: 'unsolicited' };
  const answered = requestOf(verdict, requests);
  if (typeof answered === 'string') return rejected(answered);
  if (verdict.verdict === 'ERROR') return refused === null ? { stands: 'error' } : rejected(refused);
  if (verdict.verdict !== 'PASS' && verdict.verdict !== 'FAIL') return rejected('verdict');
  if (verdict.attempt === null || verdict.attempt < 1) return rejected('attempt');
  const chain = get(state.chains, answered.chain_id);
  const unreached = chain ? unreachedWhy(chain, answered, verdict) : 'chain';
  if (!chain || unreached) return rejected(unreached ?? 'chain');
  const baseline = baselineOf(one, verdict);
  if (typeof baseline === 'string') return rejected(baseline);
  const reason = undoneWhy(one, verdict, chain, answered, refused);
  return reason ? { stands: 'undone', baseline, reason } : { stands: 'counts', baseline };
}

function rejected(reason: string): Judgement {
  return { stands: 'rejected', reason };
}

/** The request that a verdict answers, or the first thing in which it answers none. */
function requestOf(verdict: Verdict, requests: readonly Request[]): Request | string {
  const inChain = requests.filter((request) => request.chain_id === verdict.chain_id);
  if (inChain.length === 0) return 'chain';
  const atHead = inChain.filter((request) => request.head !== null && request.head === verdict.head);
  if (atHead.length === 0) return 'head';
  const sameDiff = atHead.filter((request) => request.diff_hash === verdict.diff_hash);
  const [lowest] = sameDiff.sort((a, b) => a.seq - b.seq);
  return lowest ?? 'diff_hash';
}

/** Why the chain does not lead, whole and from a clean start on this task, up to the request; null when it does. */
function unreachedWhy(chain: Chain, request: Request, verdict: Verdict): string | null {
  const [whole] = chain.segments;
  if (whole?.from !== 0 || whole.to < request.seq - 1) return 'incomplete_chain';
  // others recorded it: nobody here saw what the verdict would attest. Asked of a whole chain alone, whose first event is known
  if (chain.first?.capture === 'imported') return 'imported';
  const lowestFork = chain.forks[0]?.[0] ?? Number.POSITIVE_INFINITY;
  // What follows a fork may hang on either branch: that is the fork's fault, told as such.
  if (chain.broken !== null && chain.broken <= request.seq && chain.broken <= lowestFork)
    return 'broken_chain';
  if (!chain.start || chain.start.seq > request.seq) return 'no_start';
  if (chain.start.inherited) return 'inherited';
  if (chain.start.task_id !== verdict.task_id) return 'task_id';
  if (chain.start.base_commit !== verdict.base_commit) return 'base_commit';
  if (request.task_id !== null && request.task_id !== verdict.task_id) return 'task_id';
  if (request.base_commit !== null && request.base_commit !== verdict.base_commit) return 'base_commit';
  return null;
}

const AGREE = ['task_id', 'base_commit', 'tests_hash', 'image'] as const;

/** Verified baselines under the session's key, the smallest id first: any order, one answer. */
export function baselinesOf({ state, sessionId, rejectionOf }: Case): Verdict[] {
  return Object.entries(state.verdicts)
    .filter(([hash, other]) => other.mode === 'baseline' && !rejectionOf(hash, other))
    .map(([, other]) => other)
    .filter(({ session_id }) => session_id === null || session_id === sessionId)
    .sort((a, b) => (a.verdict_id < b.verdict_id ? -1 : 1));
}

/** The baseline of a verdict, or what is wrong with those there are. */
export function baselineOf(one: Case, verdict: Verdict): Verdict | string {
  const valid = baselinesOf(one);
  if (valid.length === 0) return 'no_baseline';
  const agreeing = valid.filter((other) => AGREE.every((field) => other[field] === verdict[field]));
  if (agreeing.length === 0) {
    const differing = valid.flatMap((other) =>
      AGREE.filter((field) => other[field] !== verdict[field]).slice(0, 1),
    );
    return `baseline_${differing.sort()[0]}`;
  }
  return agreeing.find((other) => other.verdict === 'FAIL') ?? 'baseline_not_fail';
}

function undoneWhy(
  { state, sessionId, rejectionOf }: Case,
  verdict: Verdict,
  chain: Chain,
  request: Request,
  refused: Rejection | null,
): Undone | null {
  if (refused === 'revoked') return refused;
  if (request.forked || (chain.forks[0]?.[0] ?? Number.POSITIVE_INFINITY) < request.seq) return 'fork';
  // A key may withdraw only what it might have claimed itself.
  const withdrawn = Object.entries(state.verdicts).some(
    ([hash, other]) =>
      other.retracts === verdict.verdict_id &&
      other.runner === verdict.runner &&
      (other.session_id === null || other.session_id === sessionId) &&
      rejectionOf(hash, other) === null,
  );
  return withdrawn ? 'retracted' : null;
}

/** Order of attempts; of equal ones the smallest id. */
export function byAttempt(a: Verdict, b: Verdict): number {
  return (a.attempt ?? 0) - (b.attempt ?? 0) || (a.verdict_id < b.verdict_id ? -1 : 1);
}
