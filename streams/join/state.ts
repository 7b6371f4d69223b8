/**
 * A session's state: a merge of whatever was seen of it, the same for any order and any repetition.
 * docs/design.md, "What must always hold" 4. Everything here is bounded but by what one session can do.
 */
import { compare } from '../../schemas/compare.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { TraceEvent, Verdict } from '../../schemas/generated.ts';
import { verdictHash } from '../../schemas/signature.ts';
import { size } from '../intervals.ts';
import { get, type Keyed, set } from '../keyed.ts';
import { type Chain, emptyChain, mergeEvent, type Start, seenIn } from './chain.ts';

/** A `grade_requested` notice: the next event after the head that was sent to be graded. */
export interface Request {
  chain_id: string;
  seq: number;
  /** The request is itself the second event at its place: what comes before it cannot be told. */
  forked: boolean;
  head: string | null;
  task_id: string | null;
  base_commit: string | null;
  diff_hash: string | null;
}

interface Emitted {
  verdict: string;
  baseline: string;
}

export interface JoinState {
  chains: Keyed<Chain>;
  /** By request id; more than one only where events contradict each other. */
  requests: Keyed<Request[]>;
  /** PASS and FAIL that the gate says it was answered, by request id. */
  claims: Keyed<string[]>;
  /** Every distinct signed record under the session's key, by its hash. */
  verdicts: Keyed<Verdict>;
  /** Hashes of the verdict and the baseline of each flip put out, by task: what is withdrawn when it can no longer be told, since a key left the ring. */
  emitted: Keyed<Emitted>;
}

const MAX_CHAINS = 128;
const MAX_REQUESTS = 8192;
const MAX_VERDICTS = 4096;

export function emptyState(): JoinState {
  return { chains: {}, requests: {}, claims: {}, verdicts: {}, emitted: {} };
}

/**
 * Merges an event into the state, in place. Returns whether it changed anything.
 * @throws FlipstreamError `bad_seq`, `too_many_chains`, `too_many_gaps`, `too_many_requests` (poison), before any change
 */
export function mergeTrace(state: JoinState, event: TraceEvent): boolean {
  const { chain_id, seq } = event;
  if (!Number.isSafeInteger(seq) || seq < 0)
    throw new FlipstreamError('bad_seq', 'poison', `an event of chain ${chain_id} has the seq ${seq}`);
  const known = get(state.chains, chain_id);
  if (!known && isFull(state.chains, MAX_CHAINS)) throw poison('too_many_chains', MAX_CHAINS);
  const asks = event.type === 'notice' && event.kind === 'grade_requested' ? event.request_id : null;
  if (asks !== null && !get(state.requests, asks) && isFull(state.requests, MAX_REQUESTS))
    throw poison('too_many_requests', MAX_REQUESTS);
  const chain = known ?? emptyChain();
  const first = mergeEvent(chain, event);
  if (!known) set(state.chains, chain_id, chain);
  const asked = asks !== null && noteRequest(state, asks, event);
  const claimed = noteClaim(state, event);
  return first || asked || claimed;
}

/**
 * Merges a signed record into the state, in place. Returns whether it is new.
 * @throws FlipstreamError `too_many_verdicts` (poison), before any change
 */
export function mergeVerdict(state: JoinState, verdict: Verdict): boolean {
  const hash = verdictHash(verdict);
  if (get(state.verdicts, hash)) return false;
  if (isFull(state.verdicts, MAX_VERDICTS)) throw poison('too_many_verdicts', MAX_VERDICTS);
  set(state.verdicts, hash, verdict);
  return true;
}

/** Number of distinct inputs merged. */
export function revisionOf(state: JoinState): number {
  return Object.values(state.chains).reduce(
    (sum, chain) => sum + seenIn(chain) + size(chain.forks),
    Object.keys(state.verdicts).length,
  );
}

/** The start that the session began with: of several chains the earliest. */
export function startOf(state: JoinState): { chainId: string; start: Start } | null {
  const [first] = Object.entries(state.chains)
    .flatMap(([chainId, { start }]) => (start ? [{ chainId, start }] : []))
    .sort((a, b) => compare(a.start.ts, b.start.ts) || compare(a.chainId, b.chainId));
  return first ?? null;
}

function isFull(map: Keyed<unknown>, most: number): boolean {
  return Object.keys(map).length >= most;
}

function poison(code: string, most: number): FlipstreamError {
  const message = `a session has more than ${most} of them; this one is set aside`;
  return new FlipstreamError(code, 'poison', message);
}

function noteRequest(state: JoinState, requestId: string, event: TraceEvent): boolean {
  const { chain_id, seq, prev, task_id, base_commit, diff_hash } = event;
  const forked = event.fork === true;
  return include(state.requests, requestId, {
    chain_id,
    seq,
    forked,
    head: prev,
    task_id,
    base_commit,
    diff_hash,
  });
}

function noteClaim(state: JoinState, event: TraceEvent): boolean {
  const { type, request_id, verdict } = event;
  if (type !== 'oracle_verdict' || request_id === null || (verdict !== 'PASS' && verdict !== 'FAIL'))
    return false;
  return include(state.claims, request_id, verdict);
}

/** Most distinct values under one request id: more than two contradict each other whatever they say. */
const MOST_ALIKE = 8;

/** Adds to a set kept as a sorted list; of too many, the smallest stay, whatever their order. */
function include<V>(map: Keyed<V[]>, key: string, value: V): boolean {
  const list = get(map, key) ?? [];
  const text = JSON.stringify(value);
  const texts = list.map((other) => JSON.stringify(other));
  if (texts.includes(text)) return false;
  const at = texts.findIndex((other) => other > text);
  list.splice(at < 0 ? list.length : at, 0, value);
  const dropped = list.length > MOST_ALIKE ? list.pop() : undefined;
  set(map, key, list);
  return dropped !== value;
}
