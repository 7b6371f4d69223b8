/** The suite that every engine of the log passes, on a real broker. */
import { afterAll, beforeAll, describe } from 'vitest';
import { logConforms } from '../../log/conformance.ts';
import { type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { kafkaRig } from '../support/kafka-rig.ts';

describe.skipIf((await noKafka()) !== null)('on a real broker', () => {
  let cluster: KafkaCluster;
  beforeAll(async () => {
    cluster = await startKafka();
  });
  afterAll(async () => cluster?.stop());

  logConforms('Kafka', () => kafkaRig(cluster));
});
