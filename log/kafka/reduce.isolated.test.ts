import { expect, test, vi } from 'vitest';
import { FlipstreamError } from '../../schemas/errors.ts';
import { counter } from '../conformance/rig.ts';
import { noCounts } from '../counting.ts';
import { valueDecoder } from '../values.ts';
import { createClient } from './client.ts';
import { openLease } from './lease.ts';
import { committedOf } from './offsets.ts';
import { reduce } from './reduce.ts';
import { openRegistry } from './registry/registry.ts';
import { createSchemas } from './schemas.ts';
import { createWire } from './wire.ts';

vi.mock('./lease.ts');
vi.mock('./offsets.ts');

test('offsets and states are read once the lease is held, so that what its last holder did is seen', async () => {
  const order: string[] = [];
  const stop = new AbortController();
  const holds = () => order.includes('lease');
  vi.mocked(openLease).mockImplementation(async () => {
    order.push('lease');
    return { commit: async () => {}, close: async () => {} };
  });
  vi.mocked(committedOf).mockImplementation(async (_wire, _group, places) => {
    order.push('offsets');
    return places.map((place) => ({ ...place, offset: holds() ? 10 : 0, letters: 0 }));
  });
  const access = { brokers: ['broker:9092'], sasl: undefined, tls: false };
  const wire = createWire(access);
  const schemas = createSchemas(openRegistry({ url: 'http://registry' }));
  await reduce(
    {
      core: {
        access,
        client: createClient(access),
        wire,
        catalog: {
          topic: async () => ({ id: 'id', partitions: 1 }),
          together: async () => 1,
          forWriting: async () => async () => 1,
          idNow: async () => 'id',
        },
        schemas,
        seal: undefined,
        clock: () => 0,
        send: async () => {},
        counters: noCounts(),
        sessionMs: 1000,
        warn: () => {},
        running: new Set(),
      },
      wire,
      feed: {
        async next(_topic, _partition, from) {
          order.push(`fetch from ${from}`);
          stop.abort();
          throw new FlipstreamError('feed_closed', 'retryable', 'stopped');
        },
        expect: () => {},
        drop: () => {},
        release: () => {},
        releaseAll: () => {},
        quiet: () => true,
        close: () => {},
      },
      member: {
        owned: new Map([[0, 1]]),
        check: async () => void order.push('sign of life'),
        commit: async () => {},
        run: async () => {},
      },
      reducer: counter('count'),
      preparer: null,
      changelog: 'count.state',
      decoderOf: (topic) => valueDecoder(topic, schemas.ids),
      states: () => ({
        load: async (keys) => new Map(keys.map((key) => [key, key.includes('topics') ? 'id id' : '10'])),
        catchUp: async () => void order.push('states'),
        store: () => {},
        empty: () => false,
        close: () => {},
      }),
    },
    0,
    stop.signal,
  );
  expect(order).toEqual(['sign of life', 'lease', 'offsets', 'states', 'fetch from 10']);
});
