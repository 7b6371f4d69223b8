import { afterEach, beforeEach, expect, test } from 'vitest';
import { schemaText } from '../../../schemas/codec.ts';
import { type RegistryDouble, startRegistryDouble } from '../../../tests/support/registry-double.ts';
import { openRegistry, type Registry } from './registry.ts';

let double: RegistryDouble;
let registry: Registry;
let now: number;

beforeEach(async () => {
  double = await startRegistryDouble();
  now = 0;
  registry = openRegistry({ url: `${double.url}/`, clock: () => now });
});
afterEach(() => double.close());

const avro = (schema: string) => ({ schema, schemaType: 'AVRO' });
const ours = schemaText('TraceEvent');

test('our own schema is found under the topic\u2019s subject, once, and never registered', async () => {
  await expect(registry.idFor('trace.raw')).rejects.toMatchObject({
    code: 'schema_unregistered',
    message: expect.stringContaining('flipstream kafka setup'),
  });
  expect(double.store.subjects()).toEqual([]);
  double.store.register('trace.raw-value', avro('{"type":"record","name":"Else","fields":[]}'));
  const id = double.store.register('trace.events-value', avro(ours));
  expect(await Promise.all([registry.idFor('trace.events'), registry.idFor('trace.events')])).toEqual([
    id,
    id,
  ]);
  await registry.idFor('trace.events');
  expect(double.requests.filter((path) => path.includes('trace.events'))).toHaveLength(1);
});

test('a writer\u2019s schema is asked for once; one that means ours comes back as ours, letter by letter', async () => {
  const spaced = JSON.stringify(JSON.parse(ours), null, 4);
  const id = double.store.register('trace.raw-value', avro(spaced));
  expect(await registry.schemaOf(id)).toBe(ours);
  expect(await registry.schemaOf(id)).toBe(ours);
  expect(double.requests).toHaveLength(1);
  const other =
    '{"type":"record","name":"flipstream.TraceEvent","fields":[{"name":"v","type":["int","double"]}]}';
  const text = await registry.schemaOf(double.store.register('x', avro(other)));
  expect(JSON.parse(text)).toEqual(JSON.parse(other));
});

test('only a "no such schema" that is repeated for a minute is poison, and it is remembered', async () => {
  const refused = (code: string, kind: string) =>
    expect(registry.schemaOf(9)).rejects.toMatchObject({ code, kind });
  await refused('schema_pending', 'retryable');
  await refused('schema_pending', 'retryable');
  expect(double.requests.filter((path) => path.endsWith('/9'))).toHaveLength(2);
  now = 59_000;
  await refused('schema_pending', 'retryable');
  now = 60_001;
  await refused('unknown_schema', 'poison');
  const asked = double.requests.length;
  now += 500_000;
  await refused('unknown_schema', 'poison');
  expect(double.requests).toHaveLength(asked);
  now += 200_000;
  await refused('unknown_schema', 'poison');
  expect(double.requests.length).toBeGreaterThan(asked);
});

test('a registry that was behind is believed when it has caught up', async () => {
  await expect(registry.schemaOf(1)).rejects.toMatchObject({ code: 'schema_pending' });
  double.store.register('x', avro(ours));
  now = 2_000;
  expect(await registry.schemaOf(1)).toBe(ours);
});

test.each(['unavailable', 'proxy-404', 'unauthorized'] as const)(
  'trouble of the registry (%s) is never poison, however long',
  async (trouble) => {
    double.trouble = trouble;
    for (now = 0; now < 120_000; now += 61_000) {
      await expect(registry.schemaOf(1)).rejects.toMatchObject({
        code: 'registry_unavailable',
        kind: 'retryable',
      });
    }
    double.trouble = 'none';
    double.store.register('x', avro(ours));
    expect(await registry.schemaOf(1)).toBe(ours);
  },
);

test('a registry that is gone is an outage with its address in the sentence', async () => {
  await double.close();
  await expect(registry.idFor('trace.raw')).rejects.toMatchObject({ code: 'registry_unavailable' });
  await expect(registry.schemaOf(1)).rejects.toMatchObject({
    code: 'registry_unavailable',
    message: expect.stringContaining(double.url),
  });
  double = await startRegistryDouble();
});

test('a schema that is no Avro is unreadable, once and for all', async () => {
  const id = double.store.register('x', { schema: '{"type":"object"}', schemaType: 'JSON' });
  await expect(registry.schemaOf(id)).rejects.toMatchObject({ code: 'schema_unreadable' });
});

test('credentials go along', async () => {
  const open = openRegistry({ url: double.url, auth: { username: 'u', password: 'p' } });
  double.store.register('x', avro(ours));
  expect(await open.schemaOf(1)).toBe(ours);
});
