import { canonical } from '../../schemas/canonical.ts';
import type { Flip, Verdict } from '../../schemas/generated.ts';
import { verdictHash } from '../../schemas/signature.ts';
import { get, set } from '../keyed.ts';
import { byAttempt, type Case, type Judged } from './judge.ts';

/**
 * One flip a task: the lowest PASS that counts; where none counts, the lowest that would have, withdrawn with
 * the reason. Notes in the state what it puts out, and withdraws what was put out and is a flip no more.
 */
export function flipsOf({ sessionId, state }: Case, revision: number, judged: readonly Judged[]): Flip[] {
  const flips = new Map<string, Flip>();
  const order = (a: Judged, b: Judged) =>
    Number(b.judgement.stands === 'counts') - Number(a.judgement.stands === 'counts') ||
    byAttempt(a.verdict, b.verdict);
  for (const { hash, verdict, judgement } of [...judged].sort(order)) {
    if (verdict.verdict !== 'PASS' || flips.has(verdict.task_id)) continue;
    if (judgement.stands !== 'counts' && judgement.stands !== 'undone') continue;
    const { baseline } = judgement;
    const retracted = judgement.stands === 'undone' ? judgement.reason : null;
    flips.set(verdict.task_id, flipFrom(sessionId, revision, verdict, baseline, retracted));
    set(state.emitted, verdict.task_id, { verdict: hash, baseline: verdictHash(baseline) });
  }
  for (const [taskId, emitted] of Object.entries(state.emitted)) {
    const verdict = get(state.verdicts, emitted.verdict);
    const baseline = get(state.verdicts, emitted.baseline);
    if (flips.has(taskId) || !verdict || !baseline) continue;
    const judgement = judged.find(({ hash }) => hash === emitted.verdict)?.judgement;
    const reason = judgement?.stands === 'rejected' ? judgement.reason : 'unsolicited';
    flips.set(taskId, flipFrom(sessionId, revision, verdict, baseline, reason));
  }
  return [...flips.values()];
}

function flipFrom(
  session_id: string,
  revision: number,
  verdict: Verdict,
  baseline: Verdict,
  retracted: string | null,
): Flip {
  const { task_id, base_commit, tests_hash, runner, placement, evidence } = verdict;
  return {
    session_id,
    task_id,
    attempt: verdict.attempt ?? 0,
    chain_id: verdict.chain_id ?? '',
    head: verdict.head ?? '',
    base_commit,
    tests_hash,
    runner,
    placement,
    evidence,
    baseline: canonical(baseline),
    verdict: canonical(verdict),
    flipped_at: verdict.released_at,
    revision,
    retracted,
  };
}
