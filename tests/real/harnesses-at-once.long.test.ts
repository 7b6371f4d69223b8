/** Eight sessions of four harnesses at once on one machine: all flip, and nothing of one is in another. */
import { afterAll, beforeAll, test } from 'vitest';
import { eightAtOnce } from '../support/eight-sessions.ts';
import { type Rig, startRig } from '../support/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => rig?.close());

/** Eight harnesses start hundreds of processes between them. */
test('eight sessions of four harnesses at once: nothing mixed', { timeout: 1_500_000 }, async () => {
  await eightAtOnce([rig, rig], rig.sql);
});
