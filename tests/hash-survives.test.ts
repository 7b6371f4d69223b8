/** What an event is called and what it says of itself is the same at every place that it comes through. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { type Sandbox, sandbox } from '../cli/testing.ts';
import { exportQuery } from '../jobs/export.ts';
import { canonical } from '../schemas/canonical.ts';
import { contentState } from '../schemas/content.ts';
import { jsonReader } from '../schemas/from-json.ts';
import { SCHEMAS, type TraceEvent } from '../schemas/generated.ts';
import { headerHash } from '../schemas/header.ts';
import { anyEvent } from '../schemas/testing.ts';
import { createPipeline, type Pipeline } from './support/pipeline.ts';

/** What `anyEvent` leaves empty is filled, too, by its type in the schema: every column has to carry its own. */
const { fields } = z
  .object({ fields: z.array(z.looseObject({ name: z.string(), type: z.unknown() })) })
  .parse(SCHEMAS.TraceEvent);
const UNTOUCHED = /_(redacted|digest|hash)$|^(salt|withheld|fork|harness_event)$/;
const byType: Record<string, fc.Arbitrary<string | number | boolean | null>> = {
  string: fc.string({ unit: 'grapheme', maxLength: 20 }),
  long: fc.bigInt({ min: -(2n ** 52n), max: 2n ** 52n }).map(Number),
  int: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  boolean: fc.boolean(),
};
const others = Object.fromEntries(
  fields.flatMap(({ name, type }) => {
    const arbitrary = Array.isArray(type) && type[0] === 'null' ? byType[String(type[1])] : undefined;
    return arbitrary && !UNTOUCHED.test(name) ? [[name, fc.option(arbitrary, { nil: null })] as const] : [];
  }),
);
const fullEvent = fc
  .tuple(anyEvent, fc.record(others))
  .map(([event, more]): TraceEvent => ({ ...event, ...more }));

let box: Sandbox;
let pipeline: Pipeline;

beforeEach(async () => {
  box = sandbox();
  pipeline = await createPipeline({ root: join(box.root, 'home') });
  mkdirSync(pipeline.home.root, { recursive: true });
  writeFileSync(pipeline.home.keyRing, JSON.stringify({ v: 1, keys: [] }));
  pipeline.startStreams();
  await pipeline.startSink();
});
afterEach(async () => {
  await pipeline.close();
  box.remove();
});

const readEvent = jsonReader('TraceEvent');
/** A record as SQL gives it, without the columns that say where it landed. */
const own = (row: object) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('_')));

test('canonical form and header hash hold over Avro, log, redact, Parquet and SQL export, and session export', async () => {
  expect(Object.keys(others).length).toBeGreaterThan(40);
  let round = 0;
  const holds = async (events: TraceEvent[]) => {
    const expected = new Map(events.map((event) => [event.event_id, event]));
    fc.pre(expected.size === events.length);
    await pipeline.log.publish(
      events.map((value) => ({ topic: 'trace.raw' as const, key: value.session_id, value })),
    );
    await pipeline.settled();
    const out = join(box.root, `export-${round++}.jsonl`);
    const ids = events.map(({ event_id }) => `'${event_id}'`).join(', ');
    const sql = `SELECT * FROM events WHERE event_id IN (${ids})`;
    expect(await exportQuery(pipeline.home.warehouse, sql, { out, format: 'jsonl' })).toMatchObject({
      rows: events.length,
    });
    for (const line of readFileSync(out, 'utf8').trimEnd().split('\n')) {
      const row = z.looseObject({ event_id: z.string() }).parse(JSON.parse(line));
      const event = expected.get(row.event_id);
      if (!event) throw new Error(`${row.event_id} was never published`);
      expect(canonical(own(row))).toBe(canonical(event));
      expect(headerHash(row)).toBe(headerHash(event));
      expect(contentState(readEvent(own(row)))).toBe('intact');
    }
    const [one] = events;
    const bundle = `bundle-${round}.jsonl`;
    const exported = await box.flipstream(['session', 'export', one?.session_id ?? '', '--out', bundle]);
    expect(exported).toMatchObject({ err: '' });
    expect(readFileSync(join(box.root, bundle), 'utf8').split('\n')).toContain(canonical(one));
  };
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fullEvent, { minLength: 30, maxLength: 50, selector: (event) => event.session_id }),
      holds,
    ),
    { numRuns: 4, endOnFailure: true },
  );
});
