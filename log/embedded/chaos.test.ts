import { expect, test } from 'vitest';
import { upTo } from '../conformance/rig.ts';
import { chaos } from './chaos.ts';
import { embeddedRig } from './testing.ts';

test('P3 P4 processes killed and stopped at random: what was acknowledged is there, each record counts once', async () => {
  const rig = await embeddedRig();
  const log = await rig.open({ clock: Date.now });
  const { published, counted, lost } = await chaos(log, rig.dir, { kills: 4, stops: 1 });
  expect(lost).toEqual([]);
  expect(Object.keys(published)).toHaveLength(3);
  for (const [key, numbers] of Object.entries(published)) {
    expect(numbers).toEqual(upTo(numbers.length));
    expect(counted[key]).toEqual(numbers);
  }
  await rig.close();
});
