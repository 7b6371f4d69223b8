/**
 * The reducer of log/kafka with its exactness taken out, in the two ways that suggest themselves: to show that
 * the chaos test can see. Never shipped.
 */
import { randomUUID } from 'node:crypto';
import { noCounts } from '../../log/counting.ts';
import { changelogOf, createCatalog } from '../../log/kafka/catalog.ts';
import { createClient } from '../../log/kafka/client.ts';
import type { Core } from '../../log/kafka/core.ts';
import { createFeed } from '../../log/kafka/feed.ts';
import { createMember, type Member } from '../../log/kafka/group.ts';
import { type Lease, openLease, type Placed } from '../../log/kafka/lease.ts';
import { committedOf } from '../../log/kafka/offsets.ts';
import type { KafkaOptions } from '../../log/kafka/open.ts';
import { batchesOf } from '../../log/kafka/portions.ts';
import { createSchemas } from '../../log/kafka/schemas.ts';
import { createStates } from '../../log/kafka/states.ts';
import { createWire } from '../../log/kafka/wire.ts';
import type { Reducer, Running } from '../../log/log.ts';
import { partitionOf } from '../../log/partition.ts';
import { createReduction } from '../../log/reduction.ts';
import { pause, start } from '../../log/running.ts';
import { decodeBatch, encodeNow, encodeValue, valueDecoder } from '../../log/values.ts';
import type { TopicName } from '../../schemas/topics.ts';

/** random: an id of each process's own, so that nobody is fenced; per-topic: one for each input, taken when its first record comes. */
const IDS: Record<string, (group: string, topic: string, partition: number) => string> = {
  random: (group, _topic, partition) => `${group}-${partition}-${process.pid}-${randomUUID()}`,
  'per-topic': (group, topic, partition) => `${group}-${topic}-${partition}`,
};

export function runNaive(options: KafkaOptions, reducer: Reducer<{ n: number }>, variant: string): Running {
  const idOf = IDS[variant];
  if (!idOf) throw new Error(`no variant ${variant}`);
  const core = coreOf(options);
  return start(core.running, async (stopped) => {
    const { group, inputs } = reducer;
    const wire = createWire(core.access, [...inputs, changelogOf(group)]);
    const feed = createFeed({ wire, warn: () => {} });
    await core.schemas.readyToWrite();
    const partitions = await core.catalog.together(inputs);
    const started = new Map<number, Promise<void>>();

    async function work(partition: number): Promise<void> {
      const states = createStates(core.wire, changelogOf(group), partition);
      const { ids } = core.schemas;
      const reduction = createReduction(reducer, null, {
        check: (out) => encodeNow(out, ids),
        seal: (out) => encodeValue(out, ids, undefined),
      });
      await states.catchUp();
      let turn: Promise<unknown> = Promise.resolve();
      await Promise.all(inputs.map((topic) => follow(topic)));

      async function follow(topic: TopicName): Promise<void> {
        const decode = valueDecoder(topic, ids);
        const [committed] = await committedOf(wire, group, [{ topic, partition }]);
        let at = Math.max(committed?.offset ?? 0, 0);
        let lease: Lease | null = null;
        while (member.owned.has(partition)) {
          const portion = await feed.next(topic, partition, at);
          await core.schemas.readyToRead(topic, portion.records);
          for (const raw of batchesOf(topic, partition, portion, { records: 1000, bytes: 2 ** 20 })) {
            const mine = turn.then(() => commit(raw));
            turn = mine.catch(() => undefined);
            await mine;
            at = raw.nextOffset;
          }
          async function commit(raw: Parameters<typeof decodeBatch>[1]) {
            lease ??= await openLease(core.access, idOf?.(group, topic, partition) ?? '');
            const effects = await reduction.process(decodeBatch(topic, raw, decode), states.load);
            const records: Placed[] = effects.outputs.map(({ topic: out, key, value }) => ({
              topic: out,
              partition: partitionOf(key, partitions),
              key,
              value,
            }));
            for (const [key, text] of effects.states)
              records.push({ topic: changelogOf(group), partition, key, value: Buffer.from(text ?? '') });
            const next = { topic, partition, offset: raw.nextOffset, letters: 0 };
            await lease.commit({ records, offsets: { group, committed: [next] } });
            states.store(effects.states);
            reduction.committed();
          }
        }
      }
    }

    const deal = () => {
      for (const partition of member.owned.keys()) {
        if (started.has(partition)) continue;
        const again = () => {
          for (const topic of inputs) feed.release(topic, partition);
          return pause(50, stopped).then(() => {
            started.delete(partition);
            deal();
          });
        };
        started.set(partition, work(partition).then(again, again));
      }
      for (const partition of started.keys())
        if (!member.owned.has(partition)) for (const topic of inputs) feed.release(topic, partition);
    };
    const member: Member = createMember({
      wire,
      group,
      topics: inputs,
      partitions,
      sessionMs: core.sessionMs,
      giveUp: async () => {},
      onDealt: deal,
      warn: () => {},
    });
    await member.run(stopped);
  });
}

function coreOf(options: KafkaOptions): Core {
  const access = { brokers: options.brokers, sasl: options.sasl, tls: options.tls };
  const wire = createWire(access);
  return {
    access,
    client: createClient(access),
    wire,
    catalog: createCatalog(wire),
    schemas: createSchemas(options.registry),
    seal: undefined,
    clock: Date.now,
    send: async () => {},
    counters: noCounts(),
    sessionMs: options.sessionMs ?? 10_000,
    warn: () => {},
    running: new Set(),
  };
}
