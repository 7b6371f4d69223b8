/**
 * One part of bench/kafka.ts in a process of its own, on either engine:
 * `kafka-part.ts <part> <events> <folder> [<brokers> <registry>]`. Figures for the table go out as `= name<tab>value`.
 */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import kafkajs from 'kafkajs';
import { startSink } from '../../consumers/sink.ts';
import { openEmbeddedLog } from '../../log/embedded/open.ts';
import { createClient } from '../../log/kafka/client.ts';
import { openLease, type Placed } from '../../log/kafka/lease.ts';
import { openKafkaLog } from '../../log/kafka/open.ts';
import { openRegistry } from '../../log/kafka/registry/registry.ts';
import type { Log } from '../../log/log.ts';
import { partitionOf } from '../../log/partition.ts';
import { createJoin } from '../../streams/join/join.ts';
import { createRedact } from '../../streams/redact/redact.ts';
import { query } from '../../warehouse/query.ts';
import { measureFlips } from './flip-latency.ts';
import { percentiles } from './percentiles.ts';
import { madeEvents } from './sink-events.ts';

const [part = '', count = '', folder = '', brokers = '', registry = ''] = process.argv.slice(2);
const EVENTS = Number(count);
/** Records of one request or transaction. */
const BATCH = 500;
const access = { brokers: brokers.split(','), tls: false };
const warehouse = join(folder, 'warehouse');
const log: Log =
  brokers === ''
    ? await openEmbeddedLog({ dir: join(folder, 'log'), maintainEveryMs: null })
    : openKafkaLog({ ...access, registry: openRegistry({ url: registry }) });

const PARTS: Record<string, () => Promise<void>> = {
  'fill trace.events': () => fill('trace.events'),
  'fill trace.raw': () => fill('trace.raw'),
  raw: () => raw('raw consumption'),
  'raw, as anyone': () => {
    kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
      compress: ({ buffer }: { buffer: Buffer }) => Promise.resolve(buffer),
      decompress: promisify(zstdDecompress),
    });
    return raw('raw consumption, unpacked as Node does by itself');
  },
  sink,
  redact: () => reduce('redact'),
  join: () => reduce('join'),
  plain,
  transactions,
  flips,
};
await PARTS[part]?.();
await log.close();

function figure(name: string, value: string): void {
  console.log(`= ${name}\t${value}`);
}

/** Of events since `from`. */
function rate(from: number): string {
  return `${Math.round((EVENTS / (performance.now() - from)) * 1000)}/s`;
}

async function fill(topic: 'trace.events' | 'trace.raw'): Promise<void> {
  const events = madeEvents();
  const from = performance.now();
  for (let sent = 0; sent < EVENTS; sent += 2000) {
    const batch = events(Math.min(2000, EVENTS - sent));
    await log.publish(batch.map((value) => ({ topic, key: value.session_id, value })));
  }
  figure('publish, acknowledged (events made and encoded here)', rate(from));
}

/** kafkajs's own consumer, which does nothing with what it gets; the embedded log's, which has to decode. */
async function raw(title: string): Promise<void> {
  let seen = 0;
  let from = 0;
  const { promise, resolve } = Promise.withResolvers<void>();
  const take = (records: number) => {
    from ||= performance.now();
    seen += records;
    if (seen >= EVENTS) resolve();
  };
  if (log.engine === 'embedded') {
    const running = log.consumeAvro({
      group: `raw-${process.pid}`,
      topics: ['trace.events'],
      onBatch: async ({ records }) => take(records.length),
    });
    await promise;
    figure(title, rate(from));
    return running.stop();
  }
  const consumer = createClient(access).consumer({
    groupId: `raw-${process.pid}`,
    maxBytesPerPartition: 2 ** 20,
  });
  await consumer.connect();
  await consumer.subscribe({ topics: ['trace.events'], fromBeginning: true });
  void consumer.run({ eachBatch: async ({ batch }) => take(batch.messages.length) });
  await promise;
  figure(title, rate(from));
  await consumer.disconnect();
}

async function sink(): Promise<void> {
  const started = await startSink({ log, warehouse, clock: Date.now });
  const from = performance.now();
  const resident: number[] = [];
  const step = EVENTS / 4;
  for (let landed = 0; landed < EVENTS; ) {
    await pause(50);
    await Promise.race([started.done, null]);
    landed = started.stats().tables.events?.rows ?? 0;
    while (resident.length < 4 && landed >= (resident.length + 1) * step)
      resident.push(Math.round(process.memoryUsage.rss() / 2 ** 20));
  }
  figure('topic to Delta', rate(from));
  figure('  MiB resident at each quarter', resident.join(', '));
  await started.stop();
  const { rows } = await query(warehouse, 'SELECT count(*), count(DISTINCT event_id) FROM events');
  figure('  rows, distinct', rows[0]?.join(', ') ?? '');
}

/** Until everything of its input is committed, by whichever processes there are. */
async function reduce(group: 'redact' | 'join'): Promise<void> {
  const input = group === 'join' ? 'trace.events' : 'trace.raw';
  const from = performance.now();
  const running =
    group === 'redact' ? log.run(createRedact()) : log.run(createJoin({ keyRing: { v: 1, keys: [] } }));
  for (let behind = true; behind; ) {
    await pause(200);
    await Promise.race([running.done, null]);
    const mine = (await log.lag()).filter((one) => one.group === group && one.topic === input);
    behind = mine.length === 0 || mine.some(({ committed, end }) => committed < end);
  }
  figure(group, rate(from));
  await running.stop();
}

function records(): Placed[] {
  const value = Buffer.alloc(1_500, 'a typical record with words in it ');
  return Array.from({ length: BATCH }, (_, n) => ({
    topic: 'trace.events',
    partition: partitionOf(`key-${n}`, 4),
    key: `key-${n}`,
    value,
  }));
}

async function plain(): Promise<void> {
  const { CompressionTypes, Partitioners } = kafkajs;
  const producer = createClient(access).producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  const messages = records().map(({ key, value, partition }) => ({ key, value, partition }));
  const topicMessages = [{ topic: 'trace.events', messages }];
  const from = performance.now();
  for (let sent = 0; sent < EVENTS; sent += BATCH)
    await producer.sendBatch({ topicMessages, acks: -1, compression: CompressionTypes.ZSTD });
  figure(`${BATCH} records a request, no transactions`, rate(from));
  await producer.disconnect();
}

async function transactions(): Promise<void> {
  const lease = await openLease(access, 'bench');
  const batch = records();
  const took: number[] = [];
  const from = performance.now();
  for (let sent = 0; sent < EVENTS; sent += BATCH) {
    const began = performance.now();
    await lease.commit({ records: batch });
    took.push(performance.now() - began);
  }
  figure(`${BATCH} records a transaction`, rate(from));
  figure('  one transaction', percentiles(took));
  await lease.close();
}

async function flips(): Promise<void> {
  const { toConsumer, toSql } = await measureFlips(log, warehouse, EVENTS);
  // The first ones find connections and code cold.
  const steady = (took: number[]) => percentiles(took.slice(Math.ceil(EVENTS / 10)));
  figure('verdict to flip at a consumer', steady(toConsumer));
  figure('verdict to flip in SQL (sink flushes every 250 ms)', steady(toSql));
}
