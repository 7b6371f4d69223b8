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
  rig = await startRig({ transport: 'http' });
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

/** Sessions of the same kinds are heard and held: so the silence before them was no fault of ours. */
async function heard(agents: readonly Agent[]): Promise<void> {
  const ids: string[] = [];
  for (const agent of agents) {
    const { sessionId } = await agent.run('Fix it.', failThenPass(agent.bill));
    await landed(rig, sessionId, 'flipped');
    ids.push(sessionId);
  }
  for (const table of ['sessions', 'events']) {
    const rows = await rig.sql(`SELECT DISTINCT session_id FROM ${table}`);
    expect(rows.map(({ session_id }) => session_id).sort(), table).toEqual(ids.sort());
  }
}

test('FLIPSTREAM_OFF=1, flipstream pause, and each opt-out of a repository: nothing recorded, nothing held', async () => {
  const agent = await createAgent(rig, 'silent');
  const http = await createAgent(rig, 'silent-http', 'http');
  const [off, config] = [await createAgent(rig, 'off-file'), await createAgent(rig, 'off-config')];
  const folder = (of: Agent) => join(of.clone, '.flipstream');
  for (const one of [off, config]) mkdirSync(folder(one), { recursive: true });
  writeFileSync(join(folder(off), 'off'), '');
  writeFileSync(join(folder(config), 'config.json'), '{"task_id": "demo-split-bill", "off": true}');

  const before = traces();
  const env = { FLIPSTREAM_OFF: '1' };
  await Promise.all([unheard(agent, { env }), unheard(http, { env }), unheard(off), unheard(config)]);
  expect((await rig.flipstream(['pause'])).code).toBe(0);
  await Promise.all([unheard(agent), unheard(http)]);
  expect(traces().filter((name) => !before.includes(name))).toEqual(['paused']);
  expect((await rig.flipstream(['resume'])).code).toBe(0);
  await heard([agent, http]);
});
