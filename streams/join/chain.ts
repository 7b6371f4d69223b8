/**
 * What is kept of one chain of a session. Every part is a merge that takes its inputs in any order and any
 * number of times: intervals of seq, smallest and largest, or a count raised once a seq.
 */
import { FlipstreamError } from '../../schemas/errors.ts';
import type { TraceEvent } from '../../schemas/generated.ts';
import { headerHash } from '../../schemas/header.ts';
import { add, firstEnding, type Interval } from '../intervals.ts';

/** Consecutive events: first and last seq, what the first says comes before it, the hash of the last. */
interface Segment {
  from: number;
  to: number;
  prev: string | null;
  hash: string;
}

/** What the chain's first session_start says. */
export interface Start {
  seq: number;
  ts: string;
  model: string | null;
  repo: string | null;
  task_id: string | null;
  task_source: string | null;
  base_commit: string | null;
  config_hash: string | null;
  inherited: boolean;
  tree_unknown: boolean;
}

export interface Chain {
  segments: Segment[];
  /** Lowest seq whose `prev` is not the hash of the event before it. */
  broken: number | null;
  /** Seqs at which a second event was seen. */
  forks: Interval[];
  first: { seq: number; harness: string; harness_version: string | null; capture: string | null } | null;
  last: { seq: number; type: string; outcome: string | null } | null;
  start: Start | null;
  model: { seq: number; model: string } | null;
  first_ts: string | null;
  last_ts: string | null;
  /** Highest seq of a message or tool call; -1 without any. */
  last_content: number;
  history_visible: boolean;
  turns: number;
  messages: number;
  tool_calls: number;
  tool_errors: number;
  withheld: number;
  redacted: number;
  /** Events that capture itself says it lost. */
  lost: number;
}

/** Runs of consecutive events a chain may be in while they arrive; redact lets fewer gaps than these through. */
const MAX_SEGMENTS = 4096;

const LOSSES: ReadonlySet<string> = new Set(['events_lost', 'gap']);
const FAILED: ReadonlySet<string> = new Set(['error', 'denied', 'interrupted']);

/** A chain of which nothing is known. */
export function emptyChain(): Chain {
  return {
    segments: [],
    broken: null,
    forks: [],
    first: null,
    last: null,
    start: null,
    model: null,
    first_ts: null,
    last_ts: null,
    last_content: -1,
    history_visible: false,
    turns: 0,
    messages: 0,
    tool_calls: 0,
    tool_errors: 0,
    withheld: 0,
    redacted: 0,
    lost: 0,
  };
}

/**
 * Merges an event. Returns whether it is the first time.
 * @throws FlipstreamError `too_many_gaps` (poison)
 */
export function mergeEvent(chain: Chain, event: TraceEvent): boolean {
  // A fork tells of nothing but itself: which of the two is the session's, nobody can say.
  if (event.fork) return add(chain.forks, event.seq);
  if (!link(chain, event)) return false;
  const { seq, ts } = event;
  if (chain.first === null || seq < chain.first.seq) {
    const { harness, harness_version, capture } = event;
    chain.first = { seq, harness, harness_version, capture };
  }
  // A collector tells of losses when it can, also after the end: that opens no session again.
  if (!isLoss(event) && (chain.last === null || seq > chain.last.seq))
    chain.last = { seq, type: event.type, outcome: event.outcome };
  if (chain.first_ts === null || ts < chain.first_ts) chain.first_ts = ts;
  if (chain.last_ts === null || ts > chain.last_ts) chain.last_ts = ts;
  if (event.type === 'session_start') noteStart(chain, event);
  if (event.model !== null && (chain.model === null || seq < chain.model.seq))
    chain.model = { seq, model: event.model };
  count(chain, event);
  return true;
}

function noteStart(chain: Chain, event: TraceEvent): void {
  if (event.history_visible) chain.history_visible = true;
  if (chain.start && chain.start.seq <= event.seq) return;
  const { seq, ts, model, task_id, task_source, base_commit, config_hash } = event;
  chain.start = {
    seq,
    ts,
    model,
    repo: event.root_commit ?? event.remote_url_hash,
    task_id,
    task_source,
    base_commit,
    config_hash,
    inherited: event.inherited === true,
    tree_unknown: event.tree_hash === 'unknown',
  };
}

function isLoss({ type, kind }: TraceEvent): boolean {
  return type === 'notice' && kind !== null && LOSSES.has(kind);
}

function count(chain: Chain, event: TraceEvent): void {
  if (event.turn !== null && event.turn > chain.turns) chain.turns = event.turn;
  if (event.type === 'message') chain.messages++;
  if (event.type === 'tool_call') {
    chain.tool_calls++;
    if (event.status !== null && FAILED.has(event.status)) chain.tool_errors++;
  }
  if (event.type === 'message' || event.type === 'tool_call')
    chain.last_content = Math.max(chain.last_content, event.seq);
  if (event.withheld !== null) chain.withheld++;
  if (event.redactions.length > 0) chain.redacted++;
  if (isLoss(event)) chain.lost += event.count ?? 1;
}

/** Puts an event into its place among the segments and checks the links on both its sides, once each. */
function link(chain: Chain, event: TraceEvent): boolean {
  const { segments } = chain;
  const { seq, prev } = event;
  const at = placeOf(segments, seq);
  const after = segments[at];
  if (after && after.from <= seq) return false;
  const before = segments[at - 1];
  const joinsBefore = before !== undefined && before.to === seq - 1;
  const joinsAfter = after !== undefined && after.from === seq + 1;
  if (!joinsBefore && !joinsAfter && segments.length >= MAX_SEGMENTS)
    throw new FlipstreamError(
      'too_many_gaps',
      'poison',
      `chain ${event.chain_id}: more than ${MAX_SEGMENTS} gaps; event ${seq} would make another`,
    );
  const hash = headerHash(event);
  if (seq === 0 ? prev !== null : joinsBefore && prev !== before.hash) breakAt(chain, seq);
  if (joinsAfter && after.prev !== hash) breakAt(chain, seq + 1);
  if (joinsBefore && joinsAfter) {
    before.to = after.to;
    before.hash = after.hash;
    segments.splice(at, 1);
  } else if (joinsBefore) {
    before.to = seq;
    before.hash = hash;
  } else if (joinsAfter) {
    after.from = seq;
    after.prev = prev;
  } else segments.splice(at, 0, { from: seq, to: seq, prev, hash });
  return true;
}

function breakAt(chain: Chain, seq: number): void {
  chain.broken = Math.min(chain.broken ?? seq, seq);
}

/** Index of the first segment that ends at `seq` or later. */
function placeOf(segments: readonly Segment[], seq: number): number {
  return firstEnding(segments.length, seq, (at) => segments[at]?.to ?? 0);
}

/** Distinct places of a chain of which an event was seen. */
export function seenIn(chain: Chain): number {
  return chain.segments.reduce((sum, { from, to }) => sum + to - from + 1, 0);
}

/** Events between 0 and the chain's last of which none was seen. */
export function missingIn(chain: Chain): number {
  const last = chain.segments.at(-1)?.to ?? -1;
  return last + 1 - seenIn(chain);
}
