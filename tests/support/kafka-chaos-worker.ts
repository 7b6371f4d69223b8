/** A process that the chaos test kills and stops: `node kafka-chaos-worker.ts <variant> <session ms> <registry> <brokers>` */

import { openKafkaLog } from '../../log/kafka/open.ts';
import { openRegistry } from '../../log/kafka/registry/registry.ts';
import { countBoth } from './kafka-chaos-reducer.ts';
import { runNaive } from './kafka-naive.ts';

const [variant = '', sessionMs = '', registryUrl = '', brokers = ''] = process.argv.slice(2);
const options = {
  brokers: brokers.split(','),
  tls: false,
  registry: openRegistry({ url: registryUrl }),
  sessionMs: Number(sessionMs),
  warn: () => {},
};
const running =
  variant === 'ours' ? openKafkaLog(options).run(countBoth) : runNaive(options, countBoth, variant);
running.done.catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
process.stdout.write('running\n');
