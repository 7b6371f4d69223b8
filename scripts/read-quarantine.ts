/**
 * Prints what is in quarantine, opened with the reviewer's private key: on a terminal of your own, since it may be
 * a secret.
 *
 *   node scripts/read-quarantine.ts <home> <reviewer.key> [event_id]
 *
 * The log is the home's own, or the cluster that its config.json names.
 */
import { resolve } from 'node:path';
import { unsealWith } from '../cli/deadletter/bytes.ts';
import { withLog } from '../cli/open-log.ts';
import { layout } from '../producers/home.ts';

const BATCH = 100;
const [home, keyFile, wanted] = process.argv.slice(2);
const unseal = keyFile === undefined ? null : unsealWith(keyFile);
if (home === undefined || unseal === null) {
  console.error(
    'Usage: node scripts/read-quarantine.ts <home> <reviewer.key> [event_id]; the key must be there.',
  );
  process.exit(2);
}

await withLog({ home: layout(resolve(home)), engine: {} }, async (log) => {
  const partitions = await log.partitions('trace.quarantine');
  for (let partition = 0; partition < partitions; partition += 1)
    for (let next = 0, end = 1; next < end; ) {
      const batch = await log.read('trace.quarantine', partition, next, BATCH);
      for (const { value } of batch.records) {
        const { content, ...about } = value;
        if (wanted !== undefined && about.event_id !== wanted) continue;
        console.log(about, content ? (await unseal(Buffer.from(content))).toString() : 'no content');
      }
      if (batch.nextOffset <= next) break;
      [next, end] = [batch.nextOffset, batch.end];
    }
});
