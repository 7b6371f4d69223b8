import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { CONTENT_FIELDS } from '../../schemas/content.ts';
import { jsonReader } from '../../schemas/from-json.ts';
import { SCHEMAS, type TraceEvent } from '../../schemas/generated.ts';
import { saltedDigest } from '../../schemas/hash.ts';
import type { Proto, Scalars } from './proto.ts';

/** Where an event goes. */
export interface Place {
  session_id: string;
  chain_id: string;
  host_id: string;
  capture: string;
  seq: number;
  prev: string | null;
}

const AvroFields = z.looseObject({
  fields: z.array(z.looseObject({ name: z.string(), type: z.unknown() })),
});
const EVENT_VERSION = 1;

/** Fields that the collector alone fills. */
const OURS: ReadonlySet<string> = new Set([
  ...['v', 'event_id', 'session_id', 'chain_id', 'seq', 'prev', 'ts', 'type', 'turn', 'harness', 'host_id'],
  ...['agent_id', 'harness_event', 'capture', 'transport', 'synthetic', 'salt', 'withheld', 'fork'],
  ...['redactions', 'truncated'],
  ...CONTENT_FIELDS.flatMap((field) =>
    ['redacted', 'hash', 'digest', 'bytes'].map((end) => `${field}_${end}`),
  ),
]);
// the diff's plain hash is told by the gate's own events
const GIVEN = new Map(
  AvroFields.parse(SCHEMAS.TraceEvent).fields.flatMap(({ name, type }) => {
    const kind = Array.isArray(type) ? type.find((one) => one !== 'null') : type;
    const ours = OURS.has(name) && name !== 'diff_hash';
    return ours || typeof kind !== 'string' ? [] : [[name, kind] as const];
  }),
);

/** An event from its JSON form (a line of a trace file). */
export const readEvent = jsonReader('TraceEvent');

/** An event of every field's default, as Avro reads it. */
const BLANK: TraceEvent = readEvent({
  ...{ v: EVENT_VERSION, event_id: '', session_id: '', chain_id: '', seq: 0, ts: '', type: 'notice' },
  ...{ harness: '', host_id: '' },
});

/**
 * An event at its place, with digests of its content. What the schema does not know (fields of a newer hook) or
 * cannot hold is left out, so that no entry can stop the chain.
 * @param salt 16 bytes, hex
 */
export function eventAt(proto: Proto, place: Place, salt = randomBytes(16).toString('hex')): TraceEvent {
  const { event_id, ts, type, turn, harness, harness_event, agent_id, transport } = proto;
  const event: TraceEvent = {
    ...BLANK,
    ...fitting(proto.fields),
    ...place,
    ...{ event_id, ts, type, turn, harness, harness_event, agent_id, transport },
    v: EVENT_VERSION,
    synthetic: proto.synthetic ? true : null,
    redactions: [],
  };
  let cut = false;
  let any = false;
  for (const field of CONTENT_FIELDS) {
    const content = proto.content[field];
    if (!content) continue;
    const text = content.text.toWellFormed();
    any = true;
    cut ||= content.cut;
    event[`${field}_redacted`] = text;
    event[`${field}_digest`] = saltedDigest(salt, text);
    event[`${field}_bytes`] = content.bytes;
    if (field !== 'diff') event[`${field}_hash`] = content.hash ?? null;
  }
  if (any) {
    event.salt = salt;
    event.truncated = cut;
  }
  return event;
}

/** Beyond it the Avro library writes another number than it was given, or throws. */
const LARGEST = 2 ** 52;

function fitting(fields: Scalars): Partial<TraceEvent> {
  const fit: Scalars = {};
  for (const [name, value] of Object.entries(fields)) {
    const kind = GIVEN.get(name);
    if (kind === 'string' && typeof value === 'string') fit[name] = value.toWellFormed();
    else if (kind === 'boolean' && typeof value === 'boolean') fit[name] = value;
    else if (kind === 'long' && typeof value === 'number' && Math.abs(Math.round(value)) <= LARGEST)
      fit[name] = Math.round(value);
  }
  return fit;
}
