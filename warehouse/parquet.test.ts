import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc, test } from '@fast-check/vitest';
import { afterAll, beforeAll, expect } from 'vitest';
import { decoder, encode } from '../schemas/codec.ts';
import { contentState } from '../schemas/content.ts';
import { jsonReader } from '../schemas/from-json.ts';
import type { TraceEvent } from '../schemas/generated.ts';
import { headerHash } from '../schemas/header.ts';
import { anyEvent, blankEvent } from '../schemas/testing.ts';
import { type Column, columnsOf } from './columns.ts';
import { openParquetWriter, type ParquetWriter } from './parquet.ts';
import { relation } from './relation.ts';
import { newSheet, sheetOf } from './sheet.ts';
import { recordWriter } from './sheet-avro.ts';
import { plainValue } from './values.ts';
import { CHUNK_ROWS } from './vectors.ts';

let dir: string;
let writer: ParquetWriter;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'flipstream-parquet-'));
  writer = await openParquetWriter({ memoryMiB: 256 });
});
afterAll(() => {
  writer.close();
  rmSync(dir, { recursive: true, force: true });
});

const COLUMNS = columnsOf('TraceEvent');
const put = recordWriter('TraceEvent');
const decode = decoder('TraceEvent');
const fromJson = jsonReader('TraceEvent');

async function roundTrip(events: readonly TraceEvent[]): Promise<TraceEvent[]> {
  const path = join(dir, 'x.parquet');
  const sheet = newSheet(COLUMNS);
  for (const event of events) put(sheet, sheet.rows++, encode('TraceEvent', event));
  await writer.write(path, COLUMNS, sheet);
  const reader = await writer.duck.connection.runAndReadAll(relation(COLUMNS, [path]));
  const names = reader.columnNames();
  return reader
    .getRowsJS()
    .map((row) => fromJson(Object.fromEntries(names.map((name, at) => [name, plainValue(row[at] ?? null)]))));
}

test.prop([fc.array(anyEvent, { minLength: 1, maxLength: 12 })], { numRuns: 40 })(
  'an event that went through Avro, Parquet and JSON is the same event, with the same header hash',
  async (events) => {
    const after = await roundTrip(events);
    expect(after).toEqual(events.map((event) => decode(encode('TraceEvent', event))));
    expect(after.map(headerHash)).toEqual(events.map(headerHash));
    expect(after.map(contentState)).toEqual(events.map(contentState));
  },
);

test('more rows than a vector takes, nulls and values mixed, few and many distinct strings', async () => {
  const events = Array.from(
    { length: CHUNK_ROWS * 2 + 17 },
    (_, i): TraceEvent => ({
      ...blankEvent(),
      event_id: `event ${i}`,
      session_id: `session ${i % 300}`,
      seq: i * 2 ** 33,
      turn: i % 5 === 0 ? null : -i,
      synthetic: i % 3 === 0 ? null : i % 2 === 0,
      cwd: i % 7 === 0 ? null : `/${i % 4}`,
      kind: i % 2 === 0 ? null : i % 4 === 1 ? 'nul\0inside' : 'compaction',
      text_redacted: i % 11 === 0 ? null : 'x'.repeat(i % 40),
      redactions:
        i % 500 === 1 ? [{ field: 'text', before: "a'", after: '"b\\', rule: '{}', scanner: 'é\u2028' }] : [],
    }),
  );
  expect(await roundTrip(events)).toEqual(events.map((event) => decode(encode('TraceEvent', event))));
});

test('the number of distinct strings may cross the widths of codes', async () => {
  for (const distinct of [1, 255, 256, 257]) {
    const events = Array.from(
      { length: distinct * 4 },
      (_, i): TraceEvent => ({ ...blankEvent(), tool_name: `t${i % distinct}` }),
    );
    const after = await roundTrip(events);
    expect(after.map((event) => event.tool_name)).toEqual(events.map((event) => event.tool_name));
  }
});

test('text that is no UTF-8 lands as every other reader shows it, even where the next row would complete it', async () => {
  const path = join(dir, 'damaged.parquet');
  const text: Column[] = [{ name: 'text', type: { kind: 'string' } }];
  const rows = [[0x61, 0xc3], [0xa9, 0x62], [0xff, ...Buffer.from('more than twelve bytes')], []].map(
    (bytes) => [Buffer.from(bytes)],
  );
  await writer.write(path, text, sheetOf(text, [...rows, [null], ['é']]));
  const reader = await writer.duck.connection.runAndReadAll(relation(text, [path]));
  expect(reader.getRowsJS()).toEqual([
    ['a\ufffd'],
    ['\ufffdb'],
    ['\ufffdmore than twelve bytes'],
    [''],
    [null],
    ['é'],
  ]);
});
