/** Eight sessions of four harnesses on two collectors into one Kafka: one pipeline, and nothing mixed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeHomeConfig } from '../../cli/init/home-config.ts';
import { readSettings } from '../../producers/settings.ts';
import { eightAtOnce } from '../support/eight-sessions.ts';
import { type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { type KafkaRig, kafkaRig } from '../support/kafka-rig.ts';
import { type Rig, startRig } from '../support/rig.ts';

const GROUPS = ['redact', 'join', 'metrics-session', 'metrics-bucket'];

describe.skipIf((await noKafka()) !== null)('on a real broker', () => {
  let cluster: KafkaCluster;
  let kafka: KafkaRig;
  /** Collector, streams, sink and oracle; and another host with a collector alone, which asks the same oracle. */
  let main: Rig;
  let second: Rig;
  beforeAll(async () => {
    cluster = await startKafka();
    kafka = await kafkaRig(cluster, { groups: GROUPS });
    const env = {
      FLIPSTREAM_ENGINE: 'kafka',
      FLIPSTREAM_KAFKA_BROKERS: cluster.adminBrokers.join(','),
      FLIPSTREAM_REGISTRY: kafka.registry.url,
    };
    main = await startRig({ env });
    const { oracle } = readSettings(main.config.home);
    second = await startRig({
      env,
      roles: ['collector'],
      arrange: ({ config }) => writeHomeConfig(config.home, { v: 1, ...(oracle ? { oracle } : {}) }),
    });
  });
  afterAll(async () => {
    await second?.close();
    await main?.close();
    await kafka?.close();
    await cluster?.stop();
  });

  test('eight sessions at once, half of them on each collector: nothing mixed', {
    timeout: 1_500_000,
  }, async () => {
    await eightAtOnce([main, second], main.sql);
    const chains = await main.sql(
      'SELECT chain_id, count(DISTINCT session_id) AS sessions FROM events GROUP BY ALL',
    );
    expect(chains.map(({ sessions }) => Number(sessions))).toEqual([4, 4]);
  });
});
