import { expect } from 'vitest';
import { createHarness } from '../../cli/demo/harness.ts';
import { firstAttempt, secondAttempt } from '../../cli/demo/script.ts';
import type { Rig } from './rig.ts';

export interface HeldSession {
  sessionId: string;
  /** The fix, with all of its hooks; needs nothing that runs. */
  mends(): Promise<void>;
  /** The Stop that the oracle lets go, and the end. */
  passes(): Promise<void>;
}

/** A session of the demo's harness in a clone of its own, up to where the gate has held it. */
export async function heldSession(rig: Rig, name: string): Promise<HeldSession> {
  const clone = await rig.clone(name);
  const harness = createHarness(rig.config.home, clone, rig.env);
  await harness.start('scripted-model');
  await harness.prompt('Fix splitBill.');
  for (const step of firstAttempt(clone)) await harness.step(step);
  expect(await harness.stop('Done.')).not.toBeNull();
  return {
    sessionId: harness.sessionId,
    async mends() {
      for (const step of secondAttempt(clone)) await harness.step(step);
    },
    async passes() {
      expect(await harness.stop('Now it is right.')).toBeNull();
      await harness.end();
    },
  };
}
