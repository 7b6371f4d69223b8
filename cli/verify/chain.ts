/** The event half of `verify`: which events are in their place, unchanged, and which of them a head attests. */
import { z } from 'zod';
import { canonical } from '../../schemas/canonical.ts';
import { messageOf } from '../../schemas/errors.ts';
import { jsonReader } from '../../schemas/from-json.ts';
import type { TraceEvent } from '../../schemas/generated.ts';
import { headerHash } from '../../schemas/header.ts';
import { parseJson } from '../../schemas/parse-json.ts';
import { mapping, type Steps } from '../steps.ts';
import { contentOfEvent } from './content.ts';
import type { Problem, State } from './report.ts';

export interface Link {
  event: TraceEvent;
  line: number;
  /** Hash of its header as it is now. */
  hash: string;
  content: State;
  altered: boolean;
  attested: boolean;
}

const readEvent = jsonReader('TraceEvent');
const JsonObject = z.record(z.string(), z.unknown());

/** Reads the events of one session; whatever cannot be one becomes a problem. */
export function* readEvents(
  lines: readonly string[],
  sessionId: string | null,
  problems: Problem[],
): Steps<Link[]> {
  const links = yield* mapping(lines, 'events read', (text, index) => {
    const where = `events, line ${index + 1}`;
    try {
      const json = JsonObject.parse(parseJson(text));
      // What only a newer release knows is covered by its hashes too.
      const event = { ...json, ...readEvent(json) };
      const { state: content, fault } = contentOfEvent(event);
      const altered = content === 'altered';
      const link = { event, line: index + 1, hash: headerHash(json), content, altered, attested: false };
      // As the event is, so that a field which every event has cannot be taken out where it says nothing.
      if (canonical(event) !== text) {
        problems.push({
          code: 'event_not_canonical',
          where,
          message: 'The line is not in canonical form (RFC 8785): it was written by something else.',
        });
        link.altered = true;
      }
      if (Object.keys(json).some((name) => name.startsWith('_'))) {
        problems.push({ code: 'event_malformed', where, message: 'It has a field that no event has.' });
        link.altered = true;
      }
      if (event.session_id !== sessionId) {
        problems.push({
          code: 'event_foreign',
          where,
          message: `It belongs to session ${event.session_id}.`,
        });
        link.altered = true;
      }
      if (fault !== null) problems.push({ code: 'content_altered', where: place(event), message: fault });
      return [link];
    } catch (error) {
      problems.push({ code: 'event_malformed', where, message: `It is no event: ${messageOf(error)}.` });
      return [];
    }
  });
  return links.flat();
}

/**
 * Checks one chain in the order it was written: seq counts from 0 and each `prev` is the hash of the event
 * before. An event whose hash nothing names (neither the next event nor `head`) is the altered one.
 */
export function checkChain(chain: readonly Link[], head: string | null, problems: Problem[]): void {
  const spine = onePerSeq(chain, problems);
  let expected = 0;
  spine.forEach((link, i) => {
    const before = spine[i - 1];
    const { seq, prev } = link.event;
    if (seq > expected) {
      const gone = seq === expected + 1 ? `seq ${expected} is` : `seq ${expected} to ${seq - 1} are`;
      problems.push({
        code: 'event_removed',
        where: place(link.event),
        message: `${gone} missing before it.`,
      });
    } else if (prev !== (before?.hash ?? null)) {
      const named = isNamed(spine, i, head);
      const blamed = before !== undefined && named ? before : link;
      problems.push({ code: 'event_altered', where: place(blamed.event), message: NOT_IN_CHAIN });
      blamed.altered = true;
      if (!named) link.altered = true;
    }
    expected = seq + 1;
  });
  const last = spine.at(-1);
  if (last && head !== null && last.hash !== head) {
    problems.push({ code: 'event_altered', where: place(last.event), message: NOT_LAST });
    last.altered = true;
  }
}

const NOT_IN_CHAIN =
  'Its header is not what the chain says: it was changed, put in, or something before it was.';
const NOT_LAST =
  'The bundle names another last event: this one was changed, or events after it were removed.';

/** The events that count up; what stands in a place that is taken, or after a later event, is told and left out. */
function onePerSeq(chain: readonly Link[], problems: Problem[]): Link[] {
  const taken = new Set<number>();
  let highest = -1;
  return chain.filter((link) => {
    const { seq, fork } = link.event;
    const where = `events, line ${link.line} (${place(link.event)})`;
    if (taken.has(seq)) {
      const message = `Its place is taken by another event${fork ? ', and it was recorded as a fork' : ''}.`;
      problems.push({ code: 'event_added', where, message });
    } else if (seq < highest) {
      problems.push({ code: 'event_moved', where, message: 'It stands after a later event.' });
    } else {
      taken.add(seq);
      highest = seq;
      if (fork === null) return true;
      problems.push({
        code: 'event_altered',
        where,
        message: 'It is said to be a fork, and nothing is in its place.',
      });
      link.altered = true;
      return true;
    }
    link.altered = true;
    return false;
  });
}

function isNamed(spine: readonly Link[], at: number, head: string | null): boolean {
  const link = spine[at];
  const next = spine[at + 1];
  return link !== undefined && (next ? next.event.prev === link.hash : link.hash === head);
}

/** Marks what a signed head attests: the event of that hash and every one that links back from it. @returns its seq, or null. */
export function attest(chain: readonly Link[], head: string): number | null {
  const byHash = new Map(chain.map((link) => [link.hash, link]));
  const top = byHash.get(head);
  for (let link = top; link && !link.attested; link = byHash.get(link.event.prev ?? '')) link.attested = true;
  return top?.event.seq ?? null;
}

function place(event: TraceEvent): string {
  return `chain ${event.chain_id}, seq ${event.seq}`;
}
