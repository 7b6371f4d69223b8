import { expect, test } from 'vitest';
import { event } from '../../log/conformance/rig.ts';
import { embeddedRig } from '../../log/embedded/testing.ts';
import type { Log } from '../../log/log.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { isoTime } from '../../schemas/time.ts';
import { checkClock } from './kafka-clock.ts';

const NOON = Date.parse('2026-01-01T12:00:00.000Z');

/** A log whose broker believes that it is `stamped`, with one event of a host that believes that it is `made`. */
async function judged(stamped: number, made: number) {
  const rig = await embeddedRig();
  const log = await rig.open({ clock: () => stamped });
  const one = event('k', 1);
  await log.publish([{ ...one, value: { ...one.value, ts: isoTime(made) } }]);
  const finding = await checkClock(log, () => NOON);
  await rig.close();
  return finding;
}

test.each([
  ['ahead of this machine', NOON + 60_000, NOON + 60_000, /60 s ahead of this machine/],
  ['behind the host of an event', NOON - 90_000, NOON - 5_000, /trace\.raw\/\d+@0 85 s before .* behind/],
])('a broker’s clock that is %s is a problem', async (_, stamped, made, said) => {
  expect(await judged(stamped, made)).toMatchObject({
    state: 'problem',
    message: expect.stringMatching(said),
  });
});

test('events that came late tell nothing of clocks', async () => {
  expect(await judged(NOON, NOON - 86_400_000)).toMatchObject({ state: 'ok' });
});

test('whoever may read no topic is told which right it takes, and not that all is well', async () => {
  const denied = async () => Promise.reject(new FlipstreamError('kafka_not_allowed', 'usage', 'no'));
  const rig = await embeddedRig();
  const log: Log = { ...(await rig.open()), read: denied };
  expect(await checkClock(log, Date.now)).toMatchObject({
    state: 'warning',
    message: expect.stringContaining('READ'),
  });
  await rig.close();
});
