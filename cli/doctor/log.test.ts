import { expect, test } from 'vitest';
import { event, until } from '../../log/conformance/rig.ts';
import { embeddedRig } from '../../log/embedded/testing.ts';
import { frame } from '../../log/framing.ts';
import { layout } from '../../producers/home.ts';
import { encode } from '../../schemas/codec.ts';
import { blankEvent, newerTraceEvent } from '../../schemas/testing.ts';
import { checkLog } from './log.ts';

test('P7 a group that waits for a newer release is told, with the record’s fields', async () => {
  const rig = await embeddedRig();
  const place = { home: { ...layout(rig.dir), log: rig.dir }, engine: {} };
  const log = await rig.open();
  await log.publish([event('k', 1)]);
  const id = await rig.register('trace.raw', newerTraceEvent('mood'));
  const newer = Buffer.concat([encode('TraceEvent', blankEvent()), Buffer.from([0])]);
  await rig.inject('trace.raw', 'k', frame(id, newer));
  const running = log.consume({ group: 'g', topics: ['trace.raw'], onBatch: async () => {} });
  await until(async () => (await log.lag()).some(({ committed }) => committed === 1));
  await running.stop();
  expect(await checkLog(place)).toMatchObject([
    { check: 'lag', state: 'ok' },
    { check: 'writers', state: 'problem', message: expect.stringMatching(/^g stands .*mood/) },
  ]);
  await rig.close();
});
