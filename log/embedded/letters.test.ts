import { expect, test } from 'vitest';
import { caughtUp, counter, counts, event, everything } from '../conformance/rig.ts';
import { RECORD_BYTES } from './publish.ts';
import { embeddedRig } from './testing.ts';

test('P2 an unreadable record that fills a record of the log leaves a letter with its hash; what lies behind it goes on', async () => {
  const rig = await embeddedRig();
  const log = await rig.open();
  await rig.inject('trace.raw', 'k', Buffer.alloc(RECORD_BYTES, 1));
  await log.publish([event('k', 1)]);
  const running = log.run(counter('count'));
  await caughtUp(log, 'count', 'trace.raw');
  await running.stop();
  expect(await counts(log)).toEqual({ k: [1] });
  const letters = await everything(log, 'deadletter');
  expect(letters.map(({ value }) => [value.reason, value.value_bytes, value.content])).toEqual([
    ['bad_frame', RECORD_BYTES, null],
  ]);
  await rig.close();
});
