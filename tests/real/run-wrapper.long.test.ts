/** `flipstream run` around harnesses that nothing can hold. They are not here: stand-ins play what their documentation tells. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { runCommand } from '../support/cli.ts';
import { expectChain, landed, verified } from '../support/evidence.ts';
import { type Rig, startRig } from '../support/rig.ts';

const STAND_IN = fileURLToPath(new URL('../support/stand-in.ts', import.meta.url));
const Ran = z.object({
  run_id: z.string(),
  attempts: z.number(),
  held: z.boolean(),
  session_id: z.string(),
});

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => rig?.close());

async function runs(harness: 'cursor' | 'cline') {
  const clone = await rig.clone(`run-${harness}`);
  const env = { ...rig.env, HOME: join(rig.place.root, `home-${harness}`) };
  const init = await runCommand(['init', harness, '--yes'], env, clone);
  expect(init.code, init.err).toBe(0);
  const command = [process.execPath, STAND_IN, harness, 'Fix splitBill.'];
  const ran = await runCommand(['run', '--json', '--', ...command], env, clone);
  expect(ran.code, ran.err).toBe(0);
  return { clone, ...Ran.parse(ran.json()) };
}

test('Cursor’s command line: graded when it has ended, and resumed in the same session with the constant reason', async () => {
  const { run_id, attempts, held, session_id } = await runs('cursor');
  expect({ attempts, held }).toEqual({ attempts: 2, held: false });
  const row = await landed(rig, session_id, 'flipped');
  expect(row).toMatchObject({ harness: 'cursor', harness_version: '3.7.21', attempts: 2, usable: true });
  const events = await expectChain(rig, session_id);
  const starts = events.filter((event) => event.type === 'session_start');
  expect(starts.map((event) => [event.run_id, event.original_id])).toEqual([
    [run_id, null],
    [run_id, null],
  ]);
  expect(events.at(-1)).toMatchObject({ type: 'session_end', reason: 'run_ended' });
  expect(await verified(rig, session_id)).toMatchObject({ state: 'intact', flip: true, problems: [] });
});

test('Cline: it begins anew, and the whole run is one session all the same', async () => {
  const { run_id, attempts, held, session_id } = await runs('cline');
  expect({ attempts, held }).toEqual({ attempts: 2, held: false });
  const row = await landed(rig, session_id, 'flipped');
  expect(row).toMatchObject({
    harness: 'cline',
    harness_version: '3.0.65',
    attempts: 2,
    usable: true,
    tool_calls: 2,
  });
  const starts = (await expectChain(rig, session_id)).filter((event) => event.type === 'session_start');
  expect(starts.map((event) => event.run_id)).toEqual([run_id, run_id]);
  const [first, second] = starts.map((event) => event.original_id);
  expect(first).toBeNull();
  expect(second).not.toBe(session_id);
  expect(await verified(rig, session_id)).toMatchObject({ state: 'intact', flip: true, problems: [] });
});
