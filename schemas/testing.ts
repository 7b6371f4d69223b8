/** fast-check arbitraries of our records, for every folder's property tests. */
import fc from 'fast-check';
import { z } from 'zod';
import { CONTENT_FIELDS } from './content.ts';
import { jsonReader } from './from-json.ts';
import { SCHEMAS, type Task, type TraceEvent } from './generated.ts';
import { saltedDigest, sha256 } from './hash.ts';

const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((a) => Buffer.from(a).toString('hex'));
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.json({ maxDepth: 2 }),
  fc.constant(''),
  fc.constant('a\u0000b\u2028'),
);
const orNull = <T>(arb: fc.Arbitrary<T>) => fc.option(arb, { nil: null });

const EMPTY = jsonReader('TraceEvent')({
  ...{ v: 1, event_id: '', session_id: '', chain_id: '', seq: 0, ts: '2026-01-01T00:00:00.000Z' },
  ...{ type: 'notice', harness: '', host_id: '' },
});

/** An event with nothing in it but what is required, every nullable field null. */
export function blankEvent(): TraceEvent {
  return { ...EMPTY, redactions: [] };
}

const readTask = jsonReader('Task');

/** A task that is ready, and of which nothing else is said. */
export function blankTask(task_id: string): Task {
  return readTask({ task_id, root_commit: 'r', base_commit: 'b', tests_hash: 'h', status: 'ready' });
}

/** Any event, its digests right for its content. */
export const anyEvent: fc.Arbitrary<TraceEvent> = fc
  .record({
    ids: fc.record({
      event_id: hex(32),
      session_id: fc.uuid(),
      chain_id: hex(8),
      host_id: hex(8),
      salt: hex(16),
    }),
    seq: fc.nat(),
    prev: orNull(hex(32)),
    ts: fc
      .date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
      .map((d) => d.toISOString()),
    type: fc.constantFrom('session_start', 'message', 'tool_call', 'oracle_verdict', 'session_end', 'notice'),
    rest: fc.record({
      turn: orNull(fc.nat()),
      agent_id: orNull(fc.string()),
      cwd: orNull(text),
      truncated: orNull(fc.boolean()),
      tool_name: orNull(fc.string()),
      exit_code: orNull(fc.integer({ min: -255, max: 255 })),
      // avsc encodes no number from 2^53 - 1 on.
      duration_ms: orNull(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER - 1 })),
      kind: orNull(fc.constantFrom('call_started', 'compaction')),
    }),
    content: fc.record({
      text: orNull(text),
      input: orNull(text),
      output: orNull(text),
      result: orNull(text),
      diff: orNull(text),
    }),
  })
  .map(({ ids, rest, content, ...own }) => {
    const event: TraceEvent = { ...blankEvent(), ...ids, ...own, ...rest, harness: 'test' };
    for (const field of CONTENT_FIELDS) {
      const value = content[field]?.toWellFormed() ?? null;
      event[`${field}_redacted`] = value;
      event[`${field}_digest`] = value === null ? null : saltedDigest(ids.salt, value);
      if (field !== 'diff') event[`${field}_hash`] = value === null ? null : sha256(value);
    }
    return event;
  });

/** The trace event's schema as a release with a field more would have it: a value of it is one of ours and a zero byte. */
export function newerTraceEvent(field: string): string {
  const own = z.looseObject({ fields: z.array(z.unknown()) }).parse(SCHEMAS.TraceEvent);
  return JSON.stringify({
    ...own,
    fields: [...own.fields, { name: field, type: ['null', 'string'], default: null }],
  });
}
