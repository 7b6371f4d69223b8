/**
 * Publishes what waits in an oracle's outbox, as a process of its own. Arguments: oracle home, folder of the log, and
 * `die` for one that is killed when the log has taken the records and the outbox does not know it yet.
 */
import { openEmbeddedLog } from '../../log/embedded/open.ts';
import { oracleLayout } from '../../oracle/home.ts';
import { openOracle } from '../../oracle/oracle.ts';
import { drainOutbox } from '../../oracle/outbox.ts';

const [, , root = '', dir = '', end] = process.argv;
const log = await openEmbeddedLog({ dir, maintainEveryMs: null });
const oracle = openOracle({ home: oracleLayout(root) });
await drainOutbox(oracle.db, {
  async publish(records) {
    await log.publish(records);
    if (end === 'die') process.kill(process.pid, 'SIGKILL');
  },
});
oracle.close();
await log.close();
