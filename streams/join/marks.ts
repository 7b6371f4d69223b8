import type { Verdict } from '../../schemas/generated.ts';
import { size } from '../intervals.ts';
import { get } from '../keyed.ts';
import { missingIn } from './chain.ts';
import type { Case, Judged } from './judge.ts';
import { startOf } from './state.ts';

/**
 * Marks that leave a session usable: they say how it was captured, or speak of what lies outside the graded
 * trajectory. Every other mark forbids it in a dataset.
 */
const HARMLESS: ReadonlySet<string> = new Set(['capture_same_user', 'many_chains', 'unattested']);

/** A session's sorted reasons to look twice, and whether none of them forbids it. */
export function marksOf(
  one: Case,
  { judged, chosen, ended }: { judged: readonly Judged[]; chosen: Verdict | null; ended: boolean },
): { marks: string[]; usable: boolean } {
  const marks = new Set([
    ...ofChains(one, chosen),
    ...ofVerdicts(one, judged),
    ...ofClaims(one, judged, ended),
  ]);
  // After a regrade the newer verdict is the label.
  const harmless = (mark: string) => HARMLESS.has(mark) || (mark === 'retracted' && chosen !== null);
  return { marks: [...marks].sort(), usable: [...marks].every(harmless) };
}

function* ofChains({ state }: Case, chosen: Verdict | null): Generator<string> {
  const chains = Object.values(state.chains);
  const begun = startOf(state);
  if (begun?.start.inherited) yield 'inherited';
  if (begun?.start.task_id && begun.start.tree_unknown) yield 'tree_unknown';
  if (begun?.start.task_source === 'project') yield 'project_task';
  if (chains.some(({ history_visible }) => history_visible)) yield 'history_visible';
  if (chains.some(({ forks }) => size(forks) > 0)) yield 'fork';
  if (chains.some((chain) => chain.broken !== null && chain.broken <= lowestFork(chain)))
    yield 'broken_chain';
  if (chains.length > 1) yield 'many_chains';
  // What was graded is then not the session from its beginning.
  if (chosen && begun && chosen.chain_id !== begun.chainId) yield 'later_chain';
  if (chains.some((chain) => missingIn(chain) > 0)) yield 'gap';
  if (chains.some(({ lost }) => lost > 0)) yield 'lost_events';
  if (chains.some(({ withheld }) => withheld > 0)) yield 'withheld';
  if (chains.some(({ first }) => first?.capture === 'same_user')) yield 'capture_same_user';
  // It was recorded by others, and nothing of it was signed.
  if (chains.some(({ first }) => first?.capture === 'imported')) yield 'imported';
}

function lowestFork({ forks }: { forks: [number, number][] }): number {
  return forks[0]?.[0] ?? Number.POSITIVE_INFINITY;
}

function* ofVerdicts({ state, rejectionOf }: Case, judged: readonly Judged[]): Generator<string> {
  for (const { verdict, judgement } of judged) {
    // A withdrawal needs no request of its own.
    if (judgement.stands === 'unsolicited' && verdict.retracts === null) yield 'unsolicited';
    if (judgement.stands === 'rejected') yield `rejected:${judgement.reason}`;
    if (judgement.stands === 'undone') yield judgement.reason;
  }
  for (const [hash, verdict] of Object.entries(state.verdicts)) {
    if (verdict.mode === 'grade') continue;
    const refused = rejectionOf(hash, verdict);
    if (refused) yield `rejected:${verdict.mode === 'baseline' ? 'baseline_' : ''}${refused}`;
    else if (verdict.mode !== 'baseline' && verdict.retracts === null) yield 'rejected:mode';
  }
  if (hasUnattested(state.chains, judged, state.requests)) yield 'unattested';
}

/** Whether an agent's message or tool call follows the last head that a counting verdict names, in its chain. */
function hasUnattested(
  chains: Case['state']['chains'],
  judged: readonly Judged[],
  requests: Case['state']['requests'],
): boolean {
  const last = new Map<string, number>();
  for (const { verdict, judgement } of judged) {
    if (judgement.stands !== 'counts' || verdict.chain_id === null || verdict.request_id === null) continue;
    for (const { chain_id, head, seq } of get(requests, verdict.request_id) ?? [])
      if (chain_id === verdict.chain_id && head === verdict.head)
        last.set(chain_id, Math.max(last.get(chain_id) ?? -1, seq));
  }
  return [...last].some(([chainId, seq]) => (get(chains, chainId)?.last_content ?? -1) > seq);
}

/** What the agent's host says it was answered, against what was signed. */
function* ofClaims(
  { state, rejectionOf }: Case,
  judged: readonly Judged[],
  ended: boolean,
): Generator<string> {
  const signed = new Map<string, Set<string>>();
  for (const { hash, verdict } of judged) {
    if (verdict.request_id === null || rejectionOf(hash, verdict) !== null) continue;
    signed.set(verdict.request_id, (signed.get(verdict.request_id) ?? new Set()).add(verdict.verdict));
  }
  for (const [requestId, claims] of Object.entries(state.claims)) {
    const answers = signed.get(requestId);
    if (!answers) {
      // A verdict may come days later; a session that has ended waits for none.
      if (ended) yield 'unconfirmed';
    } else if (claims.some((claim) => !answers.has(claim))) yield 'claim_differs';
  }
}
