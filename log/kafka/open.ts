import type { Clock } from '../../schemas/time.ts';
import { noCounts } from '../counting.ts';
import { createLifetime } from '../lifetime.ts';
import type { Log } from '../log.ts';
import { decodeBatch, readable, type Seal, valueDecoder, valueReader } from '../values.ts';
import { stderrWarner, type Warn } from '../warn.ts';
import { createCatalog } from './catalog.ts';
import { createClient } from './client.ts';
import { consume } from './consume.ts';
import type { Core } from './core.ts';
import { lagOf } from './lag.ts';
import { createPublish } from './publish.ts';
import { putBack } from './put-back.ts';
import { bytesAt, read } from './read.ts';
import type { Registry } from './registry/registry.ts';
import { run } from './run.ts';
import { createSchemas } from './schemas.ts';
import type { BrokerAccess } from './settings.ts';
import { createWire } from './wire.ts';

export interface KafkaOptions extends BrokerAccess {
  registry: Registry;
  seal?: Seal | undefined;
  clock?: Clock;
  /** After this long without a sign of life a group goes on without this process. Default 10 s. */
  sessionMs?: number;
  warn?: Warn;
}

export interface KafkaLog extends Log {
  readonly engine: 'kafka';
}

/**
 * Opens the log of a cluster. Nothing is connected before it is used: whoever may do little sees no more than
 * that. Topics and schemas are made beforehand, by `flipstream kafka setup`.
 * Errors of every call: `kafka_unavailable`, `registry_unavailable` (retryable), `topic_missing`,
 * `topic_partitions`, `schema_unregistered`, `kafka_not_allowed`, `kafka_login_refused` (usage), `kafka_too_old` (fatal).
 */
export function openKafkaLog(options: KafkaOptions): KafkaLog {
  const { clock = Date.now, sessionMs = 10_000, warn = stderrWarner() } = options;
  const access: BrokerAccess = { brokers: options.brokers, sasl: options.sasl, tls: options.tls };
  const wire = createWire(access);
  const core: Core = {
    access,
    client: createClient(access),
    wire,
    catalog: createCatalog(wire),
    schemas: createSchemas(options.registry),
    seal: options.seal,
    clock,
    send: (records) => publisher.send(records),
    counters: noCounts(),
    sessionMs,
    warn,
    running: new Set(),
  };
  const publisher = createPublish(core);
  const lifetime = createLifetime(`on ${access.brokers.join(', ')}`, core.running, async () => {
    await publisher.close();
    await wire.close();
  });
  const { during } = lifetime;

  function open(): Core {
    lifetime.check();
    return core;
  }

  return {
    engine: 'kafka',
    idOf: (topic) => during(async () => (await core.catalog.topic(topic)).id),
    partitions: (topic) => during(async () => (await core.catalog.topic(topic)).partitions),
    publish: (records) => during(() => publisher.publish(records)),
    consume: (consumer) => consume(open(), consumer, valueDecoder),
    consumeAvro: (consumer) => consume(open(), consumer, valueReader),
    run: (reducer) => run(open(), reducer),
    read: (topic, partition, from, max) =>
      during(async () => {
        const raw = await read(core, topic, partition, from, max);
        await core.schemas.readyToRead(topic, raw.records);
        return readable(decodeBatch(topic, raw, valueDecoder(topic, core.schemas.ids)));
      }),
    bytesAt: (topic, partition, offset) => during(() => bytesAt(core, topic, partition, offset)),
    putBack: (stored, along, unmoved) => during(() => putBack(core, stored, along, unmoved)),
    lag: () => during(() => lagOf(core)),
    counters: () => structuredClone(core.counters),
    close: lifetime.end,
  };
}
