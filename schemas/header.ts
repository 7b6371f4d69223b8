import { canonical } from './canonical.ts';
import { CONTENT_FIELDS } from './content.ts';
import type { TraceEvent } from './generated.ts';
import { sha256 } from './hash.ts';

const OUTSIDE: ReadonlySet<string> = new Set([
  ...CONTENT_FIELDS.map((field) => `${field}_redacted`),
  'salt',
  'withheld',
  'redactions',
  'fork',
]);

/**
 * What a chain covers of an event: everything but its content, the salt and what was done to the content
 * later. Content is covered by its salted digest, so a header outlives the content it speaks of.
 */
function headerOf(event: Partial<TraceEvent>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(event).filter(([name]) => !OUTSIDE.has(name) && !name.startsWith('_')),
  );
}

/** Hash of an event's header: the next event's `prev`, and the `head` that a verdict names. */
export function headerHash(event: Partial<TraceEvent>): string {
  return sha256(canonical(headerOf(event)));
}
