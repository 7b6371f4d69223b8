/** The verdict half of `verify`: signature, permission, baseline, place in the session's chain. */
import { z } from 'zod';
import { canonical } from '../../schemas/canonical.ts';
import { messageOf } from '../../schemas/errors.ts';
import { jsonReader } from '../../schemas/from-json.ts';
import type { Verdict } from '../../schemas/generated.ts';
import { parseJson } from '../../schemas/parse-json.ts';
import { type KeyRing, rejectionOf, verdictHash } from '../../schemas/signature.ts';
import { attest, type Link } from './chain.ts';
import type { Problem, VerdictSummary } from './report.ts';

const readVerdict = jsonReader('Verdict');

/** Reads the signed verdicts; one changed byte anywhere makes a problem. @returns those whose signature and key hold. */
export function readVerdicts(lines: readonly string[], ring: KeyRing, problems: Problem[]): Verdict[] {
  const good: Verdict[] = [];
  let last = '';
  lines.forEach((text, index) => {
    const where = `verdicts, line ${index + 1}`;
    try {
      const json = z.record(z.string(), z.unknown()).parse(parseJson(text));
      // What only a newer release knows is signed too.
      const verdict = { ...json, ...readVerdict(json) };
      const same = canonical(json) === text && canonical(verdict) === text;
      const rejection = same ? rejectionOf(verdict, ring) : 'bad_signature';
      if (rejection === 'bad_signature')
        problems.push({
          code: 'verdict_altered',
          where,
          message: `Verdict ${verdict.verdict_id}: its signature does not hold, it is not what the oracle signed.`,
        });
      else if (rejection)
        problems.push({
          code: 'verdict_refused',
          where,
          message: `Verdict ${verdict.verdict_id}: the key ring does not accept it (${rejection}).`,
        });
      else good.push(verdict);
      if (verdict.verdict_id <= last)
        problems.push({
          code: 'verdict_altered',
          where,
          message: `Verdict ${verdict.verdict_id} stands twice or out of order.`,
        });
      last = verdict.verdict_id;
    } catch (error) {
      problems.push({ code: 'verdict_altered', where, message: `It is no verdict: ${messageOf(error)}.` });
    }
  });
  checkKeyChains(good, problems);
  return good;
}

/** Verdicts of one key are a chain of their own; where two neighbours are here, their link must hold. */
function checkKeyChains(verdicts: readonly Verdict[], problems: Problem[]): void {
  for (const own of Map.groupBy(verdicts, (verdict) => verdict.key_id).values()) {
    const bySeq = new Map(own.map((verdict) => [verdict.oracle_seq, verdict]));
    for (const verdict of own) {
      const same = bySeq.get(verdict.oracle_seq);
      if (same !== undefined && same !== verdict)
        problems.push({
          code: 'verdict_altered',
          where: `verdict ${verdict.verdict_id}`,
          message: `Its key signed two verdicts as its number ${verdict.oracle_seq}; the other is ${same.verdict_id}.`,
        });
      const before = bySeq.get(verdict.oracle_seq - 1);
      if (before && verdict.oracle_prev !== verdictHash(before))
        problems.push({
          code: 'verdict_altered',
          where: `verdict ${verdict.verdict_id}`,
          message: 'It does not follow the verdict before it in its key\u2019s chain.',
        });
    }
  }
}

/** Connects verdicts with chains: marks what they attest and says what does not fit. */
export function placeVerdicts(
  verdicts: readonly Verdict[],
  chains: ReadonlyMap<string, Link[]>,
  sessionId: string | null,
  problems: Problem[],
): VerdictSummary[] {
  const baselines = verdicts.filter((verdict) => verdict.mode === 'baseline');
  return verdicts.map((verdict) => {
    const found = verdict.mode === 'baseline' ? [] : problemsOf(verdict, baselines, chains, sessionId);
    problems.push(...found);
    const chain = chains.get(verdict.chain_id ?? '') ?? [];
    const foreign = found.some((problem) => problem.code === 'verdict_foreign');
    return {
      verdict_id: verdict.verdict_id,
      mode: verdict.mode,
      verdict: verdict.verdict,
      task_id: verdict.task_id,
      runner: verdict.runner,
      placement: verdict.placement,
      evidence: verdict.evidence,
      key_id: verdict.key_id,
      accepted: found.length === 0,
      chain_id: verdict.chain_id,
      attests_to: verdict.head === null || foreign ? null : attest(chain, verdict.head),
    };
  });
}

function problemsOf(
  verdict: Verdict,
  baselines: readonly Verdict[],
  chains: ReadonlyMap<string, Link[]>,
  sessionId: string | null,
): Problem[] {
  const where = `verdict ${verdict.verdict_id}`;
  if (verdict.session_id !== sessionId)
    return [{ code: 'verdict_foreign', where, message: `It was given to session ${verdict.session_id}.` }];
  const found: Problem[] = [];
  const own = baselines.filter((baseline) => baseline.task_id === verdict.task_id);
  const agreeing = own.filter(
    (baseline) =>
      baseline.base_commit === verdict.base_commit &&
      baseline.tests_hash === verdict.tests_hash &&
      baseline.image === verdict.image,
  );
  if (own.length === 0)
    found.push({
      code: 'baseline_missing',
      where,
      message: `There is no signed baseline of task ${verdict.task_id}.`,
    });
  else if (!agreeing.some((baseline) => baseline.verdict === 'FAIL'))
    found.push({
      code: 'baseline_disagrees',
      where,
      message: 'No failing baseline has its base commit, tests hash and image.',
    });
  const chain = chains.get(verdict.chain_id ?? '') ?? [];
  if (!chain.some((link) => link.hash === verdict.head))
    found.push({
      code: 'verdict_head_unknown',
      where,
      message: `Chain ${verdict.chain_id} does not reach the head that it names: an event up to there was changed or removed.`,
    });
  else if (!chain.some(({ event }) => event.request_id === verdict.request_id && event.prev === verdict.head))
    found.push({
      code: 'verdict_unasked',
      where,
      message: 'The chain has no request for it after the head that it names.',
    });
  return found;
}

/** What the agent's host claims to have been told, and no signed verdict says. */
export function missingVerdicts(verdicts: readonly Verdict[], links: readonly Link[]): Problem[] {
  const grades = verdicts.filter(({ mode }) => mode === 'grade');
  const signed = new Map(grades.map((verdict) => [verdict.request_id, verdict.verdict]));
  return links
    .filter(
      ({ event }) =>
        event.type === 'oracle_verdict' && (event.verdict === 'PASS' || event.verdict === 'FAIL'),
    )
    .filter(({ event }) => event.request_id === null || signed.get(event.request_id) !== event.verdict)
    .map(({ event }) => ({
      code: 'verdict_missing',
      where: `chain ${event.chain_id}, seq ${event.seq}`,
      message: `The agent's host says it was answered ${event.verdict}, and no signed verdict here says so.`,
    }));
}
