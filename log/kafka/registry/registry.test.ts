import { afterEach, beforeEach, expect, test } from 'vitest';
import { schemaText } from '../../../schemas/codec.ts';
import { startRegistry } from '../../../tests/support/registry.ts';
import type { RegistryServer } from '../../../tests/support/registry-server.ts';
import { openRegistry, type Registry } from './registry.ts';

let server: RegistryServer;
let registry: Registry;
let now: number;

beforeEach(async () => {
  server = await startRegistry();
  now = 0;
  registry = openRegistry({ url: `${server.url}/`, clock: () => now });
});
afterEach(() => server.close());

const ours = schemaText('TraceEvent');
/** No registry has come so far. */
const NOBODYS = 2 ** 31 - 1;

test('our own schema is found under the topic\u2019s subject, once, and never registered', async () => {
  expect(await server.ask('GET /subjects')).toEqual([]);
  await server.register('trace.raw-value', '{"type":"record","name":"flipstream.Else","fields":[]}');
  const id = await server.register('trace.events-value', ours);
  expect(await Promise.all([registry.idFor('trace.events'), registry.idFor('trace.events')])).toEqual([
    id,
    id,
  ]);
  await registry.idFor('trace.events');
  expect(server.requests).toEqual(['POST /subjects/trace.events-value']);
});

test('a registry without our schema may just be starting: only a "no" that stays is setup\u2019s matter', async () => {
  const refused = (code: string, kind: string) =>
    expect(registry.idFor('trace.raw')).rejects.toMatchObject({
      code,
      kind,
      message: expect.stringContaining('flipstream kafka setup'),
    });
  await refused('schema_pending', 'retryable');
  now = 19_000;
  await refused('schema_pending', 'retryable');
  now = 20_000;
  await refused('schema_unregistered', 'usage');
  const id = await server.register('trace.raw-value', ours);
  server.trouble = 'starting';
  const other = openRegistry({ url: server.url, clock: () => now });
  await expect(other.idFor('trace.raw')).rejects.toMatchObject({ code: 'schema_pending' });
  server.trouble = 'none';
  expect(await other.idFor('trace.raw')).toBe(id);
});

test('a writer\u2019s schema is asked for once; one that means ours comes back as ours, letter by letter', async () => {
  const spaced = JSON.stringify(JSON.parse(ours), null, 4);
  const id = await server.register('trace.raw-value', spaced);
  expect(await registry.schemaOf(id, 'trace.raw')).toBe(ours);
  expect(await registry.schemaOf(id, 'trace.raw')).toBe(ours);
  expect(server.requests).toHaveLength(1);
  const other =
    '{"type":"record","name":"flipstream.TraceEvent","fields":[{"name":"v","type":["int","double"]}]}';
  const text = await registry.schemaOf(await server.register('x', other), 'trace.raw');
  expect(JSON.parse(text)).toEqual(JSON.parse(other));
});

test('only a "no such schema" that is repeated for a minute is poison, and it is remembered', async () => {
  await server.register('trace.raw-value', ours);
  const refused = (code: string, kind: string) =>
    expect(registry.schemaOf(NOBODYS, 'trace.raw')).rejects.toMatchObject({ code, kind });
  await refused('schema_pending', 'retryable');
  await refused('schema_pending', 'retryable');
  expect(server.requests.filter((path) => path.endsWith(`/${NOBODYS}`))).toHaveLength(2);
  for (now = 15_000; now < 60_000; now += 15_000) await refused('schema_pending', 'retryable');
  now = 60_000;
  await refused('unknown_schema', 'poison');
  const asked = server.requests.length;
  now += 500_000;
  await refused('unknown_schema', 'poison');
  expect(server.requests).toHaveLength(asked);
  now += 200_000;
  await refused('schema_pending', 'retryable');
  expect(server.requests.length).toBeGreaterThan(asked);
});

test.each([
  ['with an outage between', 30_000, 'unavailable'],
  ['with an answer that is no registry\u2019s between', 30_000, 'proxy-404'],
  ['and nobody asked between', 30_000, null],
] as const)('a registry that starts twice, %s, has not said no for all that time', async (_, at, between) => {
  const id = await server.register('trace.raw-value', ours);
  const ask = () => Promise.allSettled([registry.schemaOf(id, 'trace.raw'), registry.idFor('trace.raw')]);
  const codes = async () => (await ask()).map((one) => one.status === 'rejected' && one.reason.code);
  server.trouble = 'starting';
  for (now = 0; now < at; now += 9_000) {
    expect(await codes()).toEqual([
      'schema_pending',
      now < 20_000 ? 'schema_pending' : 'schema_unregistered',
    ]);
  }
  if (between) {
    server.trouble = between;
    expect(await codes()).toEqual(['registry_unavailable', 'registry_unavailable']);
  }
  server.trouble = 'starting';
  for (const start of between ? [now + 9_000, 3_600_000] : [3_600_000])
    for (now = start; now < start + 18_000; now += 9_000)
      expect(await codes()).toEqual(['schema_pending', 'schema_pending']);
  server.trouble = 'none';
  expect(await codes()).toEqual([false, false]);
});

test('a registry that was behind is believed when it has caught up', async () => {
  const id = await server.register('x', ours);
  server.trouble = 'starting';
  await expect(registry.schemaOf(id, 'trace.raw')).rejects.toMatchObject({ code: 'schema_pending' });
  server.trouble = 'none';
  now = 2_000;
  expect(await registry.schemaOf(id, 'trace.raw')).toBe(ours);
});

test.each(['unavailable', 'proxy-404', 'unauthorized'] as const)(
  'trouble of the registry (%s) is never poison and never setup\u2019s matter, however long',
  async (trouble) => {
    const id = await server.register('trace.raw-value', ours);
    server.trouble = trouble;
    const outage = { code: 'registry_unavailable', kind: 'retryable' };
    for (now = 0; now < 120_000; now += 61_000) {
      await expect(registry.schemaOf(id, 'trace.raw')).rejects.toMatchObject(outage);
      await expect(registry.idFor('trace.raw')).rejects.toMatchObject(outage);
    }
    server.trouble = 'none';
    expect(await registry.schemaOf(id, 'trace.raw')).toBe(ours);
    expect(await registry.idFor('trace.raw')).toBe(id);
  },
);

test('a registry that is gone is an outage with its address in the sentence', async () => {
  await server.close();
  await expect(registry.idFor('trace.raw')).rejects.toMatchObject({ code: 'registry_unavailable' });
  await expect(registry.schemaOf(1, 'trace.raw')).rejects.toMatchObject({
    code: 'registry_unavailable',
    message: expect.stringContaining(server.url),
  });
  server = await startRegistry();
});

test('a schema that is no Avro is unreadable, once and for all', async () => {
  const id = await server.register('x', '{"type":"object"}', 'JSON');
  await expect(registry.schemaOf(id, 'trace.raw')).rejects.toMatchObject({ code: 'schema_unreadable' });
});

test('credentials go along', async () => {
  const id = await server.register('trace.raw-value', ours);
  server.trouble = 'unauthorized';
  const open = openRegistry({ url: server.url, auth: { username: 'u', password: 'p' } });
  expect(await open.schemaOf(id, 'trace.raw')).toBe(ours);
  expect(await open.idFor('trace.raw')).toBe(id);
});
