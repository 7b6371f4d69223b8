/** Workers killed and stopped on real brokers, one of which dies: each record counts once. And that the test would see it otherwise. */
import { afterEach, describe, expect, test } from 'vitest';
import { type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { type ChaosOptions, chaos } from '../support/kafka-chaos.ts';
import { kafkaRig } from '../support/kafka-rig.ts';

const OURS: ChaosOptions = {
  variant: 'ours',
  events: 20_000,
  kills: 10,
  stops: 5,
  stopMs: 2_500,
  sessionMs: 1_500,
  broker: true,
};
/** Small: what is wrong with them shows at the first stop that meets a transaction. */
const NAIVE: ChaosOptions = { ...OURS, events: 5_000, kills: 3, stops: 5, broker: false };
const ROUNDS = 4;

describe.skipIf((await noKafka()) !== null)('chaos on real brokers', () => {
  let cluster: KafkaCluster;
  afterEach(async () => cluster?.stop());

  test('P3 P4 three workers killed and stopped, a broker killed: nothing missing, nothing twice, every count right', async ({
    skip,
  }) => {
    cluster = await startKafka({ count: 3 });
    skip(cluster.nodes.length < 2, 'these brokers are not ours to kill');
    const rig = await kafkaRig(cluster, { partitions: 6 });
    const result = await chaos(rig, cluster, OURS);
    expect(result.wrong).toEqual([]);
    await rig.close();
  });

  test.each(['random', 'per-topic'] as const)(
    'the same with transactional ids %s is caught',
    async (variant) => {
      cluster = await startKafka();
      const wrong: string[] = [];
      for (let round = 0; wrong.length === 0 && round < ROUNDS; round++) {
        const rig = await kafkaRig(cluster, { partitions: 6 });
        wrong.push(...(await chaos(rig, cluster, { ...NAIVE, variant })).wrong);
        await rig.close();
      }
      expect(wrong).not.toEqual([]);
    },
  );
});
