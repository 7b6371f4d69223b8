import kafkajs, { type Producer } from 'kafkajs';
import { countPublished } from '../counting.ts';
import type { Outgoing } from '../log.ts';
import { partitionOf } from '../partition.ts';
import type { Encoded } from '../values.ts';
import type { Core } from './core.ts';
import { named } from './errors.ts';
import { sendFitting } from './send-all.ts';
import { encodeFitting, lettersOfRefused } from './set-aside.ts';

const { Partitioners } = kafkajs;

/** Most that one round of requests takes; what waits behind it goes with the next. */
const ROUND_BYTES = 8 * 2 ** 20;
/** A leader that moves takes seconds to be found; then whoever waits is told. */
const PATIENCE = { retries: 7, initialRetryTime: 100, maxRetryTime: 2_000 };

interface Waiting {
  records: Encoded[];
  bytes: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

export interface Publish {
  publish(records: readonly Outgoing[]): Promise<void>;
  /** The same for what is encoded already. */
  send(records: readonly Encoded[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * At least once: resolves when all in-sync replicas have the records, and a repetition may repeat them. Not
 * idempotent on purpose: after a send that failed for good, kafkajs's idempotent producer has the broker take the
 * next batch for a repetition, and it is lost. What is published together goes together, in the order of calls.
 */
export function createPublish(core: Core): Publish {
  const queue: Waiting[] = [];
  let flushing: Promise<void> | null = null;
  let encoding: Promise<unknown> = Promise.resolve();
  let producer: Promise<Producer> | null = null;
  let counts: ReturnType<Core['catalog']['forWriting']> | null = null;

  async function open(): Promise<Producer> {
    const made = core.client.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: false,
      maxInFlightRequests: 1,
      retry: PATIENCE,
    });
    await made.connect();
    return made;
  }

  async function produce(records: readonly Encoded[]): Promise<void> {
    if (records.length === 0) return;
    counts ??= core.catalog.forWriting();
    const partitionsOf = await counts;
    const byPartition = new Map<string, Encoded[]>();
    for (const record of records) {
      const place = `${record.topic}/${partitionOf(record.key, await partitionsOf(record.topic))}`;
      const there = byPartition.get(place);
      if (there) there.push(record);
      else byPartition.set(place, [record]);
    }
    const pieces = [...byPartition].map(([place, there]) => ({
      topic: there[0]?.topic ?? '',
      partition: Number(place.slice(place.lastIndexOf('/') + 1)),
      records: there,
    }));
    producer ??= open();
    const refused = await sendFitting(await producer, pieces);
    if (refused.length > 0) await produce(await lettersOfRefused(core, refused));
  }

  async function flush(): Promise<void> {
    while (queue.length > 0) {
      let count = 0;
      for (let size = 0; count < queue.length && size < ROUND_BYTES; count++)
        size += queue[count]?.bytes ?? 0;
      const group = queue.splice(0, count);
      const records = group.flatMap((one) => one.records);
      try {
        await produce(records);
        countPublished(core.counters, records);
        for (const one of group) one.resolve();
      } catch (error) {
        await drop();
        for (const one of group) one.reject(named(error, core.access.brokers));
      }
    }
    flushing = null;
  }

  async function drop(): Promise<void> {
    const dropped = producer;
    producer = null;
    counts = null;
    await dropped?.then((made) => made.disconnect()).catch(() => undefined);
  }

  function send(records: readonly Encoded[]): Promise<void> {
    if (records.length === 0) return Promise.resolve();
    return new Promise<void>((resolve, reject) => {
      const bytes = records.reduce((sum, { value }) => sum + value.length, 0);
      queue.push({ records: [...records], bytes, resolve, reject });
      flushing ??= new Promise((turn) => setImmediate(turn)).then(flush);
    });
  }

  return {
    async publish(records) {
      const mine = encoding.then(() => encodeFitting(core, records));
      encoding = mine.catch(() => undefined);
      await send(await mine);
    },
    send,
    async close() {
      await encoding.catch(() => undefined);
      await flushing;
      await drop();
    },
  };
}
