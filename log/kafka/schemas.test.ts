import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { encode, schemaText } from '../../schemas/codec.ts';
import { startRegistry } from '../../tests/support/registry.ts';
import type { RegistryServer } from '../../tests/support/registry-server.ts';
import { event, upTo } from '../conformance/rig.ts';
import { frame } from '../framing.ts';
import { decodeBatch, type RawRecord, valueDecoder } from '../values.ts';
import { createMissing } from './registry/missing.ts';
import { openRegistry } from './registry/registry.ts';
import { createSchemas, type Schemas } from './schemas.ts';

/** No registry has come so far. */
const NOBODYS = 2 ** 31;
/** Who waits looks again after this long. */
const LOOK_MS = 5_000;

const body = encode('TraceEvent', event('k', 1).value);
const recordsOf = (ids: readonly number[]): RawRecord[] =>
  ids.map((id, offset) => ({ offset, timestamp: 0, key: 'k', value: frame(id, body) }));

/** Reads what lies in a partition as an engine does: what is done stays done. */
function reader(schemas: Schemas, records: RawRecord[]) {
  const decode = valueDecoder('trace.raw', schemas.ids);
  const self = { at: 0, read: [] as number[], refused: [] as number[], waits: '' };
  const look = async () => {
    const rest = records.slice(self.at);
    await schemas.readyToRead('trace.raw', rest);
    const end = records.length;
    const raw = {
      topic: 'trace.raw' as const,
      partition: 0,
      records: rest,
      nextOffset: end,
      end,
      earliest: 0,
    };
    const { batch, refused, waits } = decodeBatch('trace.raw', raw, decode);
    self.at = batch.nextOffset;
    self.read.push(...batch.records.map(({ offset }) => offset));
    self.refused.push(...refused.map(({ record }) => record.offset));
    self.waits = waits?.code ?? '';
  };
  return { self, look };
}

describe('schemas of writers', () => {
  let server: RegistryServer;
  let now: number;
  let schemas: Schemas;
  let known: number;
  beforeEach(async () => {
    server = await startRegistry();
    now = 0;
    schemas = createSchemas(openRegistry({ url: server.url, clock: () => now }));
    known = await server.register('trace.raw-value', schemaText('TraceEvent'));
  });
  afterEach(() => server.close());

  test.each([1, 3])(
    '12 ids that nobody has, in each of %i partitions, wait one minute together; what lies before them does not',
    async (partitions) => {
      const readers = upTo(partitions).map((partition) => {
        // Some of them lie in every partition.
        const ids = upTo(12).map((n) => NOBODYS + (n > 9 ? n : 100 * partition + n));
        return reader(schemas, recordsOf([known, ...ids.flatMap((id) => [id, known])]));
      });
      const lookAll = () => Promise.all(readers.map(({ look }) => look()));
      for (; now < 60_000; now += LOOK_MS) {
        await lookAll();
        for (const { self } of readers)
          expect(self).toEqual({ at: 1, read: [0], refused: [], waits: 'schema_pending' });
      }
      await lookAll();
      for (const { self } of readers) {
        expect(self).toMatchObject({ at: 25, waits: '' });
        expect(self.refused).toEqual(upTo(12).map((n) => 2 * n - 1));
        expect(self.read).toEqual([0, ...upTo(12).map((n) => 2 * n)]);
      }
    },
  );

  test.each(['unavailable', 'proxy-404', 'unauthorized'] as const)(
    'an id that is first met while the registry is in trouble (%s) is not poison, however long that lasts',
    async (trouble) => {
      const { self, look } = reader(schemas, recordsOf([known]));
      server.trouble = trouble;
      for (; now < 120_000; now += 40_000) {
        await look();
        expect(self).toEqual({ at: 0, read: [], refused: [], waits: 'registry_unavailable' });
      }
      server.trouble = 'none';
      await look();
      expect(self).toEqual({ at: 1, read: [0], refused: [], waits: '' });
    },
  );
});

test('a registry that does not show our own schema of a topic either is not believed about others in it', async () => {
  const server = await startRegistry();
  let now = 0;
  const schemas = createSchemas(openRegistry({ url: server.url, clock: () => now }));
  const { self, look } = reader(schemas, recordsOf([NOBODYS]));
  const lookFor = async (ms: number) => {
    for (const until = now + ms; now < until; now += LOOK_MS) await look();
  };
  await lookFor(600_000);
  expect(self).toMatchObject({ at: 0, refused: [], waits: 'schema_pending' });
  await server.register('trace.raw-value', schemaText('TraceEvent'));
  await lookFor(60_000);
  expect(self).toMatchObject({ at: 0, refused: [], waits: 'schema_pending' });
  await look();
  expect(self).toMatchObject({ at: 1, refused: [0] });
  await server.close();
});

test('any number of ids that nobody has is got through, and only some are asked for at once', async () => {
  let now = 0;
  let asked = 0;
  const missing = createMissing(() => now);
  const schemaOf = async (id: number) => {
    asked++;
    missing.check(id);
    return missing.note(id);
  };
  const schemas = createSchemas({ idFor: async () => 1, schemaOf });
  const ids = upTo(700).map((n) => NOBODYS + n);
  const { self, look } = reader(schemas, recordsOf(ids));
  for (; self.refused.length < ids.length && now < 600_000; now += LOOK_MS) {
    asked = 0;
    await look();
    expect(asked).toBeLessThanOrEqual(600);
  }
  expect(self.refused).toHaveLength(ids.length);
  expect(now).toBeLessThanOrEqual(4 * 60_000);
});
