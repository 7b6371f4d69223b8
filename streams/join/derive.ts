import { compare } from '../../schemas/compare.ts';
import type { Flip, Session, Verdict } from '../../schemas/generated.ts';
import { UNGRADED_OUTCOMES } from '../../schemas/outcome.ts';
import { size } from '../intervals.ts';
import { get } from '../keyed.ts';
import { type Chain, missingIn, type Start, seenIn } from './chain.ts';
import { flipsOf } from './flips.ts';
import { baselineOf, baselinesOf, byAttempt, type Case, type Judged, judge } from './judge.ts';
import { marksOf } from './marks.ts';
import { revisionOf, startOf } from './state.ts';

export interface Derived {
  session: Session;
  flips: Flip[];
}

/** What a session and its flips are: from the merged state alone, in whatever order it came to be. */
export function derive(one: Case): Derived {
  const { state } = one;
  const judged: Judged[] = Object.entries(state.verdicts)
    .filter(([, { mode }]) => mode === 'grade')
    .map(([hash, verdict]) => ({ hash, verdict, judgement: judge(one, hash, verdict) }));
  const counted = judged
    .filter(({ judgement }) => judgement.stands === 'counts')
    .map(({ verdict }) => verdict);
  const revision = revisionOf(state);
  return {
    session: sessionOf(one, { judged, counted, chosen: choose(counted), revision }),
    flips: flipsOf(one, revision, judged),
  };
}

/** The PASS with the lowest attempt, else the FAIL with the highest; of equal ones the smallest id. */
function choose(counted: readonly Verdict[]): Verdict | null {
  const passes = counted.filter(({ verdict }) => verdict === 'PASS').sort(byAttempt);
  const fails = counted.filter(({ verdict }) => verdict === 'FAIL').sort(byAttempt);
  return passes[0] ?? fails.at(-1) ?? null;
}

interface Found {
  judged: Judged[];
  counted: Verdict[];
  chosen: Verdict | null;
  revision: number;
}

function sessionOf(one: Case, { judged, counted, chosen, revision }: Found): Session {
  const { state, sessionId } = one;
  const chains = Object.entries(state.chains).sort(([a], [b]) => compare(a, b));
  const begun = startOf(state);
  const start = begun?.start ?? null;
  const first = (begun ? get(state.chains, begun.chainId) : chains[0]?.[1]) ?? null;
  const sum = (of: (chain: Chain) => number) => chains.reduce((total, [, chain]) => total + of(chain), 0);
  const ended = chains.length > 0 && chains.every(([, { last }]) => last?.type === 'session_end');
  // What is known of the task before anything of it has been graded.
  const told = chosen ?? baselinesOf(one).find(({ task_id }) => task_id === start?.task_id);
  const baseline = chosen ? baselineOf(one, chosen) : null;
  const marks = marksOf(one, { judged, chosen, ended });
  const times = chains
    .flatMap(([, { first_ts, last_ts }]) => [first_ts, last_ts].filter((ts) => ts !== null))
    .sort();
  return {
    session_id: sessionId,
    harness: first?.first?.harness ?? null,
    harness_version: first?.first?.harness_version ?? null,
    model: start?.model ?? first?.model?.model ?? null,
    repo: start?.repo ?? null,
    task_id: start?.task_id ?? null,
    task_source: start?.task_source ?? null,
    task_family: told?.task_family ?? null,
    task_split: told?.task_split ?? null,
    base_commit: start?.base_commit ?? null,
    config_hash: start?.config_hash ?? null,
    capture: first?.first?.capture ?? null,
    started_at: times[0] ?? null,
    last_event_at: times.at(-1) ?? null,
    ended,
    outcome: outcomeOf(chains, { chosen, start, ended }),
    attempts: counted.length,
    events: sum((chain) => seenIn(chain) + size(chain.forks)),
    turns: Math.max(0, ...chains.map(([, { turns }]) => turns)),
    messages: sum(({ messages }) => messages),
    tool_calls: sum(({ tool_calls }) => tool_calls),
    tool_errors: sum(({ tool_errors }) => tool_errors),
    withheld: sum(({ withheld }) => withheld),
    redacted: sum(({ redacted }) => redacted),
    gaps: sum((chain) => missingIn(chain) + chain.lost),
    oracle_errors: judged.filter(({ judgement }) => judgement.stands === 'error').length,
    chains: chains.map(([chain_id, chain]) => ({
      chain_id,
      events: seenIn(chain) + size(chain.forks),
      last_seq: chain.segments.at(-1)?.to ?? -1,
      missing: missingIn(chain),
      forks: size(chain.forks),
    })),
    baseline_verdict_id: typeof baseline === 'string' ? null : (baseline?.verdict_id ?? null),
    verdict_id: chosen?.verdict_id ?? null,
    runner: chosen?.runner ?? null,
    placement: chosen?.placement ?? null,
    evidence: chosen?.evidence ?? null,
    ...marks,
    revision,
  };
}

const ENDS: ReadonlySet<string> = new Set(UNGRADED_OUTCOMES);

/** Signed verdicts decide; without one, what the end says, but never more than that nothing was graded. */
function outcomeOf(
  chains: [string, Chain][],
  { chosen, start, ended }: { chosen: Verdict | null; start: Start | null; ended: boolean },
): string | null {
  if (chosen) return chosen.verdict === 'PASS' ? 'flipped' : 'no_flip';
  if (!ended) return null;
  const latest = chains
    .map(([, chain]) => chain)
    .sort((a, b) => compare(a.last_ts ?? '', b.last_ts ?? ''))
    .at(-1);
  const said = latest?.last?.outcome ?? null;
  if (said !== null && ENDS.has(said)) return said;
  return start?.task_id ? 'ungraded' : 'no_task';
}
