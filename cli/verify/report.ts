/** What `verify` says of a bundle. */

/**
 * - `intact`: as captured, in its place, and covered by a signed verdict's head.
 * - `redacted`: content was replaced later, and the replacement is recorded.
 * - `withheld`: the content is not here; its header is, and is right.
 * - `altered`: removed, changed, added or moved.
 * - `unattested`: its chain is consistent in itself, but no signed verdict covers it.
 */
export type State = 'intact' | 'redacted' | 'withheld' | 'altered' | 'unattested';

export interface Range {
  chain_id: string;
  from: number;
  to: number;
  state: State;
}

/** Something wrong, and where: `events line 12`, `chain x, seq 7`. */
export interface Problem {
  code: ProblemCode;
  where: string;
  message: string;
}

export type ProblemCode =
  | 'bundle_altered'
  | 'event_not_canonical'
  | 'event_malformed'
  | 'event_foreign'
  | 'event_moved'
  | 'event_removed'
  | 'event_added'
  | 'event_altered'
  | 'content_altered'
  | 'verdict_altered'
  | 'verdict_foreign'
  | 'verdict_refused'
  | 'verdict_head_unknown'
  | 'verdict_unasked'
  | 'verdict_missing'
  | 'baseline_missing'
  | 'baseline_disagrees';

export interface VerdictSummary {
  verdict_id: string;
  mode: string;
  verdict: string;
  task_id: string;
  runner: string;
  placement: string;
  evidence: string;
  key_id: string;
  /** Signature, permission of the key, place in the chain and baseline all hold. */
  accepted: boolean;
  chain_id: string | null;
  /** Last seq that it attests. */
  attests_to: number | null;
}

export interface Report {
  session_id: string | null;
  /** The worst of all ranges and problems; events after the last attested one are told by `unattested`. */
  state: State;
  events: number;
  /** Events that no signed verdict covers. */
  unattested: number;
  ranges: Range[];
  problems: Problem[];
  verdicts: VerdictSummary[];
  /** Whether the streams' own join makes a flip of these records, the outcome it gives, and its reasons to look twice. */
  flip: boolean;
  outcome: string | null;
  marks: string[];
  /** SHA-256 of the canonical key ring, and whether it came from the bundle or was given by the checker. */
  key_ring: { sha256: string; source: 'bundle' | 'given' };
}
