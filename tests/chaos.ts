/** The long form of the chaos test: `npm run chaos -- --minutes 30`. Ends with 1 at the first thing that does not add up. */
import { parseArgs } from 'node:util';
import { noKafka, startKafka } from './support/kafka-broker.ts';
import { chaos } from './support/kafka-chaos.ts';
import { kafkaRig } from './support/kafka-rig.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const until = performance.now() + Number(values.minutes) * 60_000;
const reason = await noKafka();
if (reason !== null) throw new Error(reason);

const cluster = await startKafka({ count: 3 });
try {
  for (let round = 1; performance.now() < until; round++) {
    const rig = await kafkaRig(cluster, { partitions: 6 });
    const result = await chaos(rig, cluster, {
      variant: 'ours',
      events: 20_000,
      kills: 15,
      stops: 8,
      stopMs: 2_500,
      sessionMs: 1_500,
      broker: cluster.nodes.length > 1,
    });
    await rig.close();
    console.log(
      `round ${round}: ${result.events} events in ${result.seconds} s, ${result.repeated} published twice, ${result.wrong.length} wrong`,
    );
    for (const line of result.wrong) console.error(line);
    if (result.wrong.length > 0) {
      process.exitCode = 1;
      break;
    }
  }
} finally {
  await cluster.stop();
}
