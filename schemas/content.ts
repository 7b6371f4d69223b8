import type { TraceEvent } from './generated.ts';
import { saltedDigest } from './hash.ts';

/** The five places of an event that hold content; each has `_redacted`, `_digest`, and where it is known `_hash` and `_bytes`. */
export const CONTENT_FIELDS = ['text', 'input', 'output', 'result', 'diff'] as const;
export type ContentField = (typeof CONTENT_FIELDS)[number];

/** The content of a field, or null. */
export function contentOf(event: TraceEvent, field: ContentField): string | null {
  return event[`${field}_redacted`];
}

/** What `verify` can say of one event's content; an event is as bad as its worst field. */
export type ContentState = 'intact' | 'redacted' | 'withheld' | 'altered';

const WORST: readonly ContentState[] = ['intact', 'redacted', 'withheld', 'altered'];

/**
 * Compares an event's content with the digests in its header and the redactions it records: intact,
 * redacted later, withheld, or altered. Needs nothing but the event.
 */
export function contentState(event: TraceEvent): ContentState {
  const states = CONTENT_FIELDS.map((field) => fieldState(event, field));
  return states.reduce(
    (worst, state) => (WORST.indexOf(state) > WORST.indexOf(worst) ? state : worst),
    'intact',
  );
}

/** As capture writes it. Node reads hex leniently: without this, one salt could be written in many ways. */
const SALT = /^[0-9a-f]{32}$/;

function fieldState(event: TraceEvent, field: ContentField): ContentState {
  const content = contentOf(event, field);
  const digest = event[`${field}_digest`];
  if (digest === null) return content === null ? 'intact' : 'altered';
  if (content === null) return event.withheld === null ? 'altered' : 'withheld';
  if (event.salt === null || !SALT.test(event.salt)) return 'altered';
  const now = saltedDigest(event.salt, content);
  if (now === digest) return 'intact';
  let expected = digest;
  for (const step of event.redactions) {
    if (step.field !== field) continue;
    if (step.before !== expected) return 'altered';
    expected = step.after;
  }
  return now === expected ? 'redacted' : 'altered';
}
