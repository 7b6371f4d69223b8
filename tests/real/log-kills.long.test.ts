import { expect, test } from 'vitest';
import { upTo } from '../../log/conformance/rig.ts';
import { chaos } from '../../log/embedded/chaos.ts';
import { embeddedRig } from '../../log/embedded/testing.ts';

test('P3 P4 the long form: 80 kills and 20 stops of publishers and reducers, every record counted once', async () => {
  const rig = await embeddedRig();
  const log = await rig.open({ clock: Date.now });
  const { published, counted, lost } = await chaos(log, rig.dir, { kills: 80, stops: 20 });
  expect(lost).toEqual([]);
  for (const [key, numbers] of Object.entries(published)) {
    expect(numbers).toEqual(upTo(numbers.length));
    expect(counted[key]).toEqual(numbers);
  }
  await rig.close();
});
