import { canonical } from '../../schemas/canonical.ts';
import { CONTENT_FIELDS, type ContentField, contentOf } from '../../schemas/content.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { Quarantined, TraceEvent } from '../../schemas/generated.ts';
import { saltedDigest } from '../../schemas/hash.ts';
import { headerHash } from '../../schemas/header.ts';
import { isFrom, type Out, type Step, type StreamRecord } from '../record.ts';
import { notice, type Seen } from './seen.ts';
import { SCANNER } from './version.ts';

/** One replacement: the content of a field after `rule` has been applied to it. */
export interface Replacement {
  field: ContentField;
  rule: string;
  after: string;
}

/** What a scan says of one event. Crosses a thread, so it is plain data. */
export type Scanned =
  | { found: 'nothing' }
  | { found: 'replaced'; replacements: Replacement[] }
  | { found: 'doubt'; rules: string[] }
  | { found: 'unscanned'; why: 'timeout' | 'scanner_failed' };

const OUTPUTS = ['trace.events', 'trace.quarantine'] as const;
type Output = (typeof OUTPUTS)[number];
type Redacted = Out<Output>;

export interface RedactOptions {
  /** How long one batch of about 1 MiB may be scanned, milliseconds; a scan that outlives it is quarantined. */
  deadlineMs?: number;
  /** The module that scans, for tests of scans that hang. */
  module?: URL;
}

const SCAN = new URL(import.meta.url.endsWith('.ts') ? './scan.ts' : './scan.js', import.meta.url);

/**
 * The second scan and the only writer of `trace.events`: each event once, secrets replaced, what is doubtful
 * or could not be scanned withheld and quarantined. The header's hash of an event never changes here.
 * State: one a session, bounded (seen.ts).
 */
export function createRedact({ deadlineMs = 10_000, module = SCAN }: RedactOptions = {}) {
  return {
    group: 'redact',
    inputs: ['trace.raw'] as const,
    outputs: OUTPUTS,
    prepare: {
      module,
      deadlineMs,
      fallback: (why: 'timeout' | 'failed'): Scanned => ({
        found: 'unscanned',
        why: why === 'timeout' ? 'timeout' : 'scanner_failed',
      }),
    },
    apply: (state: Seen | null, record: StreamRecord, scanned: Scanned): Step<Seen, Output> => {
      if (!isFrom(record, 'trace.raw')) return { state, out: [] };
      const event = record.value;
      if (record.key !== event.session_id)
        throw new FlipstreamError(
          'key_mismatch',
          'poison',
          `event ${event.event_id} lies under another session's key`,
        );
      const seen: Seen = state ?? { chains: {} };
      const sighting = notice(seen, event.chain_id, event.seq, headerHash(event));
      if (sighting === 'duplicate') return { state: seen, out: [] };
      return { state: seen, out: pass({ ...event, fork: sighting === 'fork' ? true : null }, scanned) };
    },
  };
}

/** What an event becomes by what the scan found. */
export function pass(event: TraceEvent, scanned: Scanned): Redacted[] {
  if (scanned.found === 'nothing') return [toEvents(event)];
  if (scanned.found === 'unscanned') return withhold(event, scanned.why, []);
  if (scanned.found === 'doubt') return withhold(event, 'hit', scanned.rules);
  // Without its salt nobody could tell a redaction from an alteration.
  if (event.salt === null)
    return withhold(
      event,
      'hit',
      scanned.replacements.map(({ rule }) => rule),
    );
  return [toEvents(replace(event, event.salt, scanned.replacements))];
}

function replace(event: TraceEvent, salt: string, replacements: readonly Replacement[]): TraceEvent {
  const changed: TraceEvent = { ...event, redactions: [...event.redactions] };
  for (const { field, rule, after } of replacements) {
    const before = contentOf(changed, field);
    if (before === null) continue;
    changed[`${field}_redacted`] = after;
    changed.redactions.push({
      field,
      before: saltedDigest(salt, before),
      after: saltedDigest(salt, after),
      rule,
      scanner: SCANNER,
    });
  }
  return changed;
}

function withhold(event: TraceEvent, reason: Quarantined['reason'], rules: readonly string[]): Redacted[] {
  const header: TraceEvent = { ...event, salt: null, withheld: 'quarantined' };
  for (const field of CONTENT_FIELDS) header[`${field}_redacted`] = null;
  const { event_id, session_id, ts, type } = event;
  const value: Quarantined = {
    event_id,
    session_id,
    ts,
    type,
    reason,
    rules: [...new Set(rules)].sort(),
    scanner: SCANNER,
    content: Buffer.from(canonical(event)),
  };
  return [toEvents(header), { topic: 'trace.quarantine', key: session_id, value }];
}

function toEvents(value: TraceEvent): Redacted {
  return { topic: 'trace.events', key: value.session_id, value };
}
