/** One part of bench/kafka.ts in a process of its own: `kafka-part.ts <part> <events> <brokers> <registry> <folder>` */
import kafkajs from 'kafkajs';
import { startSink } from '../../consumers/sink.ts';
import { counter } from '../../log/conformance/rig.ts';
import { createClient } from '../../log/kafka/client.ts';
import { openLease, type Placed } from '../../log/kafka/lease.ts';
import { type KafkaLog, openKafkaLog } from '../../log/kafka/open.ts';
import { openRegistry } from '../../log/kafka/registry/registry.ts';
import { partitionOf } from '../../log/partition.ts';
import { createJoin } from '../../streams/join/join.ts';
import { createRedact } from '../../streams/redact/redact.ts';
import { query } from '../../warehouse/query.ts';
import { madeEvents } from './sink-events.ts';

const [part = '', count = '', brokers = '', registry = '', folder = ''] = process.argv.slice(2);
const EVENTS = Number(count);
const access = { brokers: brokers.split(','), tls: false };
const log: KafkaLog = openKafkaLog({ ...access, registry: openRegistry({ url: registry }) });

const PARTS: Record<string, () => Promise<void>> = {
  'fill trace.events': () => fill('trace.events'),
  'fill trace.raw': () => fill('trace.raw'),
  raw,
  sink,
  reduce: () => reduce('redact'),
  join: () => reduce('join'),
  count: () => reduce('count'),
  plain,
  transactions,
};
await PARTS[part]?.();
await log.close();

async function fill(topic: 'trace.events' | 'trace.raw'): Promise<void> {
  const events = madeEvents();
  const from = performance.now();
  for (let sent = 0; sent < EVENTS; sent += 2000) {
    const batch = events(Math.min(2000, EVENTS - sent));
    await log.publish(batch.map((value) => ({ topic, key: value.session_id, value })));
  }
  tell(`${topic} filled (events made, encoded, acknowledged)`, from);
}

/** kafkajs's own consumer, which does nothing with what it gets. */
async function raw(): Promise<void> {
  const consumer = createClient(access).consumer({ groupId: 'raw', maxBytesPerPartition: 2 ** 20 });
  await consumer.connect();
  await consumer.subscribe({ topics: ['trace.events'], fromBeginning: true });
  let seen = 0;
  let from = 0;
  await new Promise<void>((resolve) => {
    void consumer.run({
      eachBatch: async ({ batch }) => {
        from ||= performance.now();
        seen += batch.messages.length;
        if (seen >= EVENTS) resolve();
      },
    });
  });
  tell('raw kafkajs consumption', from);
  await consumer.disconnect();
}

async function sink(): Promise<void> {
  const from = performance.now();
  const started = await startSink({ log, warehouse: folder, clock: Date.now });
  const step = Math.max(250_000, EVENTS / 4);
  let next = step;
  for (let landed = 0; landed < EVENTS; ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    await Promise.race([started.done, null]);
    landed = started.stats().tables.events?.rows ?? 0;
    for (; landed >= next; next += step)
      console.log(`  ${next} landed: ${Math.round(process.memoryUsage.rss() / 2 ** 20)} MiB resident`);
  }
  tell('topic to Delta', from);
  await started.stop();
  const { rows } = await query(folder, 'SELECT count(*), count(DISTINCT event_id) FROM events');
  console.log(`  in the warehouse: ${rows[0]?.[0]} rows, ${rows[0]?.[1]} distinct`);
}

/** Until everything of its input is committed, by whichever processes there are. */
async function reduce(group: 'redact' | 'join' | 'count'): Promise<void> {
  const input = group === 'join' ? 'trace.events' : 'trace.raw';
  const from = performance.now();
  const running =
    group === 'redact'
      ? log.run(createRedact())
      : group === 'join'
        ? log.run(createJoin({ keyRing: { v: 1, keys: [] } }))
        : log.run(counter('count'));
  let committed = 0;
  while (committed < EVENTS) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    await Promise.race([running.done, null]);
    const lag = await log.lag();
    committed = lag
      .filter((one) => one.group === group && one.topic === input)
      .reduce((sum, one) => sum + one.committed, 0);
  }
  const mine = log.counters().consumed[input] ?? 0;
  tell(`${group}, all processes together (this one did ${Math.round((mine / EVENTS) * 100)} %)`, from);
  await running.stop();
}

const BATCH = 500;

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
  tell(`${BATCH} records a request, without transactions`, from);
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
  tell(`${BATCH} records a transaction`, from);
  took.sort((a, b) => a - b);
  const at = (q: number) => took[Math.floor((took.length - 1) * q)]?.toFixed(1);
  console.log(`  a transaction takes p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
  await lease.close();
}

function tell(what: string, from: number): void {
  console.log(`${what}: ${Math.round((EVENTS / (performance.now() - from)) * 1000)} events/s`);
}
