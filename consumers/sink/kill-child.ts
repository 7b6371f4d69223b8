/** A sink in a process of its own, for tests that kill it: `node kill-child.ts <dir of the log> <warehouse> <group>`. */
import { openEmbeddedLog } from '../../log/embedded/open.ts';
import { startSink } from '../sink.ts';

const [, , logDir = '', warehouse = '', group = ''] = process.argv;
// A dead member's partitions are free after the lease: short, or the test would only wait.
const log = await openEmbeddedLog({ dir: logDir, maintainEveryMs: null, leaseMs: 300 });
const sink = await startSink({
  log,
  warehouse,
  group,
  clock: Date.now,
  flushMs: 2,
  maxRows: 300,
  memoryMiB: 128,
});
process.stdout.write('ready\n');
await sink.done;
