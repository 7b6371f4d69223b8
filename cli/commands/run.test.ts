import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rememberSession } from '../../producers/gate/session-file.ts';
import { layout } from '../../producers/home.ts';
import { type Sandbox, sandbox } from '../testing.ts';

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.remove());

/** Tells of sessions that start under a run, as the hook does. */
const HARNESS = `
  const { appendFileSync, mkdirSync } = require('node:fs');
  const runs = process.env.FLIPSTREAM_HOME + '/runs/';
  mkdirSync(runs, { recursive: true });
  for (const session_id of process.argv[1].split(' '))
    appendFileSync(runs + process.env.FLIPSTREAM_RUN + '.jsonl', JSON.stringify({ session_id, harness: 'h', cwd: null }) + '\\n');
`;

test('a harness that the agent starts itself is not graded in the place of the run’s own', async () => {
  const home = layout(join(box.root, 'home'));
  const free = { task_id: null, base_commit: null, worktree: null, base_matches: null };
  for (const id of ['own', 'nested']) rememberSession(home, id, free);
  const ran = await box.flipstream(['run', '--json', '--', process.execPath, '-e', HARNESS, 'own nested']);
  expect(ran).toMatchObject({ code: 0, err: '' });
  expect(ran.json()).toMatchObject({ attempts: 1, held: false, session_id: 'own' });
});

test('a run of which no hook told is no success', async () => {
  const ran = await box.flipstream(['run', '--json', '--', process.execPath, '-e', '', 'prompt']);
  expect(ran.code).toBe(1);
  expect(ran.json()).toMatchObject({ attempts: 1, session_id: null });
});
