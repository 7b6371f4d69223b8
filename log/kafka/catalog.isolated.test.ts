import { beforeEach, expect, test, vi } from 'vitest';
import { createCatalog } from './catalog.ts';
import { describe, tellsIds } from './topic-ids.ts';
import { createWire, type Wire } from './wire.ts';

vi.mock('./topic-ids.ts');

const ACCESS = { brokers: ['broker:9092'], sasl: undefined, tls: false };
const NOT_ALLOWED = 29;
let topics: Record<string, number>;
let hidden: string[];
beforeEach(() => {
  topics = { 'trace.raw': 2, 'trace.events': 2, deadletter: 2 };
  hidden = [];
  vi.mocked(describe).mockImplementation(async (_broker, names) => ({
    id: 'cluster',
    topics: new Map(
      names.map((name) => {
        const error = hidden.includes(name) ? NOT_ALLOWED : 0;
        return [name, { error, id: `id of ${name}`, partitions: error === 0 ? (topics[name] ?? 0) : 0 }];
      }),
    ),
  }));
});

/** As kafkajs says it. */
const refusal = (type: string) => Object.assign(new Error(type), { name: 'KafkaJSProtocolError', type });

function catalogOf(old: boolean) {
  vi.mocked(tellsIds).mockReturnValue(!old);
  const wire: Wire = {
    ...createWire(ACCESS),
    any: vi.mocked(vi.fn<Wire['any']>(), { partial: true }).mockResolvedValue({}),
    refresh: async () => {},
    clusterId: () => 'cluster',
    partitions: (name) => topics[name] ?? 0,
    async watch([name = '']) {
      if (hidden.includes(name)) throw refusal('TOPIC_AUTHORIZATION_FAILED');
      if (!topics[name]) throw refusal('UNKNOWN_TOPIC_OR_PARTITION');
    },
  };
  return createCatalog(wire);
}

test.each([
  ['brokers that tell ids', false],
  ['older brokers', true],
])(
  'who writes is told of %s how many partitions each topic has, of those that it may see',
  async (_which, old) => {
    hidden = ['trace.quarantine'];
    const partitionsOf = await catalogOf(old).forWriting();
    expect(await partitionsOf('trace.raw')).toBe(2);
    await expect(partitionsOf('trace.quarantine')).rejects.toMatchObject({ code: 'kafka_not_allowed' });
    await expect(partitionsOf('tasks')).rejects.toMatchObject({ code: 'topic_missing' });
    topics = { 'trace.raw': 3, 'trace.events': 2, 'trace.quarantine': 4 };
    await expect(catalogOf(old).forWriting()).rejects.toMatchObject({
      code: 'topic_partitions',
      message: expect.stringContaining('and trace.raw has 3, trace.events has 2: '),
    });
    topics = { 'trace.raw': 3, 'trace.quarantine': 4 };
    expect(await (await catalogOf(old).forWriting())('trace.raw')).toBe(3);
  },
);
