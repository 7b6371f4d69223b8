/** Sessions of the real Claude Code that are not to be recorded: nothing is, and nobody is held. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, createAgent, type RunOptions } from '../support/agent.ts';
import { landed } from '../support/evidence.ts';
import { failThenPass, read, says } from '../support/replies.ts';
import { type Rig, startRig } from '../support/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => rig?.close());

/** Everything that could tell of a session, by name; the databases' own side files come and go. */
function traces(): string[] {
  return readdirSync(rig.config.home.root, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/\.db(?:-\w+)?$/.test(name))
    .sort();
}

/** The bug is still there when the agent stops: with a gate it would be held. */
async function unheard(agent: Agent, options: RunOptions = {}): Promise<void> {
  const { sessionId, requests } = await agent.run(
    'Look.',
    [[says('I look.'), read(agent.bill)], [says('I am done.')]],
    options,
  );
  expect(requests).toHaveLength(2);
  expect(await rig.sql(`SELECT count(*) n FROM events WHERE session_id = '${sessionId}'`)).toEqual([
    { n: 0 },
  ]);
}

/** A session of the same kind is heard and held: so the silence before it was no fault of ours. */
async function heard(agent: Agent): Promise<void> {
  const { sessionId } = await agent.run('Fix it.', failThenPass(agent.bill));
  await landed(rig, sessionId, 'flipped');
  expect(await rig.sql('SELECT session_id FROM sessions')).toEqual([{ session_id: sessionId }]);
}

test('FLIPSTREAM_OFF=1, flipstream pause, and each opt-out of a repository: nothing recorded, nothing held', async () => {
  const agent = await createAgent(rig, 'silent');
  const [off, config] = [await createAgent(rig, 'off-file'), await createAgent(rig, 'off-config')];
  const folder = (of: Agent) => join(of.clone, '.flipstream');
  for (const one of [off, config]) mkdirSync(folder(one), { recursive: true });
  writeFileSync(join(folder(off), 'off'), '');
  writeFileSync(join(folder(config), 'config.json'), '{"task_id": "demo-split-bill", "off": true}');

  const before = traces();
  await Promise.all([unheard(agent, { env: { FLIPSTREAM_OFF: '1' } }), unheard(off), unheard(config)]);
  expect((await rig.flipstream(['pause'])).code).toBe(0);
  await unheard(agent);
  expect(traces().filter((name) => !before.includes(name))).toEqual(['paused']);
  expect((await rig.flipstream(['resume'])).code).toBe(0);
  await heard(agent);
});
