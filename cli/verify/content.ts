/** What an event says of its own content, held against itself: no hash covers it, so nothing of it may be at odds. */
import { CONTENT_FIELDS, contentOf, contentState } from '../../schemas/content.ts';
import type { TraceEvent } from '../../schemas/generated.ts';
import { saltedDigest } from '../../schemas/hash.ts';
import type { State } from './report.ts';

export interface Content {
  state: State;
  /** What is wrong with it, when it is altered. */
  fault: string | null;
}

/** The state of an event's content, and why it is altered if it is. */
export function contentOfEvent(event: TraceEvent): Content {
  const state = contentState(event);
  const fault = state === 'altered' ? NOT_ITS_DIGEST : contradictionOf(event);
  if (fault !== null) return { state: 'altered', fault };
  // A scan that fails withholds an event also where there was nothing to withhold.
  return { state: event.withheld === null ? state : 'withheld', fault: null };
}

const NOT_ITS_DIGEST = 'Its content is not what the digest in its header says.';

function contradictionOf(event: TraceEvent): string | null {
  const digested = CONTENT_FIELDS.filter((field) => event[`${field}_digest`] !== null);
  const here = digested.filter((field) => contentOf(event, field) !== null);
  // A salt goes with its content: left alone it would only help to guess what was withheld.
  if (event.salt !== null && here.length === 0)
    return 'It has a salt, and no content that was salted with it.';
  if (event.withheld !== null && here.length > 0 && here.length === digested.length)
    return 'Its content is here, and is said to be withheld.';
  const odd = event.redactions.find(({ field }) => !bearsOut(event, field));
  return odd ? `It records a redaction of its ${odd.field} that its content does not bear out.` : null;
}

/** Whether the replacements of a field begin at its digest, go on from each other, and lead elsewhere. */
function bearsOut(event: TraceEvent, name: string): boolean {
  const field = CONTENT_FIELDS.find((known) => known === name);
  const digest = field === undefined ? null : event[`${field}_digest`];
  if (field === undefined || digest === null) return false;
  let at = digest;
  for (const { before, after } of event.redactions.filter((step) => step.field === name)) {
    if (before !== at || after === before) return false;
    at = after;
  }
  const content = contentOf(event, field);
  return content === null || saltedDigest(event.salt ?? '', content) !== digest;
}
