/** `verify` itself: from a bundle to a report, and nothing else. */

import { canonical } from '../../schemas/canonical.ts';
import { compare } from '../../schemas/compare.ts';
import type { Flip, Session, Verdict } from '../../schemas/generated.ts';
import { sha256 } from '../../schemas/hash.ts';
import { KeyRing } from '../../schemas/signature.ts';
import { createJoin } from '../../streams/join/join.ts';
import type { StreamRecord } from '../../streams/record.ts';
import { counted } from '../counted.ts';
import { atOnce, type Steps, stepOf } from '../steps.ts';
import { type Bundle, Manifest } from './bundle.ts';
import { checkChain, type Link, readEvents } from './chain.ts';
import { faultsOf, refuseFaulty } from './keys.ts';
import type { Problem, ProblemCode, Range, Report, State } from './report.ts';
import { missingVerdicts, placeVerdicts, readVerdicts } from './verdicts.ts';

/** Nothing was changed, but what should attest the session does not. */
const NOT_ATTESTING: ReadonlySet<ProblemCode> = new Set([
  'verdict_refused',
  'verdict_missing',
  'baseline_missing',
  'baseline_disagrees',
]);

const SEVERITY: readonly State[] = ['intact', 'redacted', 'withheld', 'unattested', 'altered'];

/**
 * Checks a bundle with nothing but itself and, if given, a key ring from elsewhere. Outside of what it can
 * vouch for, by design: which rule and scanner a later redaction names, and why content is withheld; and, without
 * a given key ring, whose keys the bundle's own are.
 * @throws FlipstreamError `key_ring_invalid` (usage) when the given ring contradicts itself.
 */
export function checkBundle(bundle: Bundle, given: KeyRing | null): Report {
  return atOnce(checking(bundle, given));
}

/** `checkBundle` in steps, for a bundle that may be large. @throws as `checkBundle` */
export function* checking(bundle: Bundle, given: KeyRing | null): Steps<Report> {
  if (given) refuseFaulty(given);
  const problems: Problem[] = [];
  const manifest = parse(Manifest, bundle.manifest, 'manifest', problems);
  const own = ownRing(bundle.keyRing, problems);
  const ring = given ?? own ?? { v: 1, keys: [] };
  const sessionId = manifest?.session_id ?? null;
  if (manifest && manifest.key_ring !== sha256(bundle.keyRing))
    problems.push({
      code: 'bundle_altered',
      where: 'key ring',
      message: 'It is not the one that the manifest names.',
    });

  const links = yield* readEvents(bundle.events, sessionId, problems);
  const chains = Map.groupBy(links, (link) => link.event.chain_id);
  checkOrder(links, problems);
  checkNamed(manifest?.chains ?? [], problems);
  for (const [id, chain] of chains) {
    const said = manifest?.chains.find((entry) => entry.chain_id === id);
    if (said?.events !== chain.length)
      problems.push({
        code: 'bundle_altered',
        where: `chain ${id}`,
        message: `It has ${counted(chain.length, 'event')}, the manifest says ${said?.events ?? 0}.`,
      });
    checkChain(chain, said?.head ?? null, problems);
  }
  for (const { chain_id } of manifest?.chains ?? [])
    if (!chains.has(chain_id))
      problems.push({
        code: 'event_removed',
        where: `chain ${chain_id}`,
        message: 'The manifest names it, and no event of it is here.',
      });

  if (manifest && manifest.verdicts !== bundle.verdicts.length)
    problems.push({
      code: 'bundle_altered',
      where: 'verdicts',
      message: `There are ${bundle.verdicts.length}, the manifest says ${manifest.verdicts}.`,
    });
  const verdicts = readVerdicts(bundle.verdicts, ring, problems);
  const summaries = placeVerdicts(verdicts, chains, sessionId, problems);
  problems.push(...missingVerdicts(verdicts, links));

  const ranges = [...chains.values()].flatMap(rangesOf);
  return {
    session_id: sessionId,
    state: overall(ranges, problems),
    events: links.length,
    unattested: links.filter((link) => !link.attested).length,
    ranges,
    problems,
    verdicts: summaries,
    ...(yield* judgeSession(sessionId, links, verdicts, ring)),
    key_ring: { sha256: sha256(canonical(ring)), source: given ? 'given' : 'bundle' },
  };
}

/** What the streams would say of these records: the very same join, over what is unaltered. */
function* judgeSession(
  sessionId: string | null,
  links: readonly Link[],
  verdicts: readonly Verdict[],
  keyRing: KeyRing,
): Steps<Pick<Report, 'flip' | 'outcome' | 'marks'>> {
  const join = createJoin({ keyRing });
  const key = sessionId ?? '';
  const records: StreamRecord[] = [
    ...links
      .filter((link) => !link.altered)
      .map(({ event }) => ({ topic: 'trace.events', key, value: event }) as const),
    ...verdicts.map((value) => ({ topic: 'oracle.verdicts', key, value }) as const),
  ];
  let state: ReturnType<typeof join.apply>['state'] = null;
  let session: Session | null = null;
  const flips = new Map<string, Flip>();
  for (const [at, record] of records.entries()) {
    yield* stepOf(at + 1, records.length, 'records judged');
    const step = join.apply(state, record);
    state = step.state;
    for (const out of step.out) {
      if (out.topic === 'sessions') session = out.value;
      else flips.set(out.key, out.value);
    }
  }
  return {
    flip: [...flips.values()].some((flip) => flip.retracted === null),
    outcome: session?.outcome ?? null,
    marks: session?.marks ?? [],
  };
}

function parse<T>(
  schema: { safeParse(value: unknown): { success: boolean; data?: T } },
  text: string,
  where: string,
  problems: Problem[],
): T | undefined {
  try {
    const json: unknown = JSON.parse(text);
    const parsed = schema.safeParse(json);
    // As it was read, so that what has a default cannot be taken out where it says nothing.
    if (parsed.success && canonical(json) === text && canonical(parsed.data) === text) return parsed.data;
  } catch {
    // told below
  }
  problems.push({ code: 'bundle_altered', where, message: 'It is not what session export writes.' });
  return undefined;
}

/** The bundle's own keys, none of which counts when the ring contradicts itself. */
function ownRing(text: string, problems: Problem[]): KeyRing | undefined {
  const ring = parse(KeyRing, text, 'key ring', problems);
  const faults = ring ? faultsOf(ring) : [];
  for (const message of faults) problems.push({ code: 'bundle_altered', where: 'key ring', message });
  return faults.length === 0 ? ring : undefined;
}

/** The manifest names each chain once, by id. */
function checkNamed(chains: Manifest['chains'], problems: Problem[]): void {
  chains.forEach(({ chain_id }, i) => {
    const before = chains[i - 1];
    if (before && before.chain_id >= chain_id)
      problems.push({
        code: 'bundle_altered',
        where: 'manifest',
        message: `It names chain ${chain_id} twice or out of order.`,
      });
  });
}

/** Chains stand one after the other, by id. */
function checkOrder(links: readonly Link[], problems: Problem[]): void {
  links.forEach((link, i) => {
    const before = links[i - 1];
    if (before && compare(before.event.chain_id, link.event.chain_id) > 0) {
      problems.push({
        code: 'event_moved',
        where: `events, line ${link.line}`,
        message: 'It stands among the events of another chain.',
      });
      link.altered = true;
    }
  });
}

function stateOf(link: Link): State {
  if (link.altered) return 'altered';
  return link.attested ? link.content : 'unattested';
}

function rangesOf(chain: readonly Link[]): Range[] {
  const ranges: Range[] = [];
  for (const link of chain) {
    const { chain_id, seq } = link.event;
    const state = stateOf(link);
    const last = ranges.at(-1);
    if (last?.state === state && last.to + 1 === seq) last.to = seq;
    else ranges.push({ chain_id, from: seq, to: seq, state });
  }
  return ranges;
}

function overall(ranges: readonly Range[], problems: readonly Problem[]): State {
  const attested = ranges.filter((range) => range.state !== 'unattested').map((range) => range.state);
  const states: State[] = attested.length > 0 ? attested : ['unattested'];
  for (const { code } of problems) states.push(NOT_ATTESTING.has(code) ? 'unattested' : 'altered');
  return states.reduce(
    (worst, state) => (SEVERITY.indexOf(state) > SEVERITY.indexOf(worst) ? state : worst),
    'intact',
  );
}
