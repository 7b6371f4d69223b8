/** FAIL, block, fix, PASS, flip with the real Claude Code, by each way of registering the hook. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAgent, type Registration } from '../support/agent.ts';
import { counts } from '../support/evidence.ts';
import { flips } from '../support/flip-session.ts';
import { type Rig, startRig } from '../support/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ transport: 'http' });
});
afterAll(async () => rig?.close());

/** By what way each event came. */
const ways = (events: Awaited<ReturnType<typeof flips>>['events']) =>
  counts(
    events
      .filter((event) => event.harness_event !== null)
      .map((event) => `${event.transport} ${event.harness_event}`),
  );

test.concurrent('FAIL, block, fix, PASS, flip: command hooks as init registers them', async () => {
  const { events } = await flips(rig, await createAgent(rig, 'commands'));
  expect(Object.keys(ways(events)).filter((way) => way.startsWith('http'))).toEqual([]);
});

test.concurrent('the same through the plugin, installed from the marketplace, and nothing in the settings', async () => {
  const agent = await createAgent(rig, 'plugin', 'plugin');
  const settings = readFileSync(join(agent.home, '.claude', 'settings.json'), 'utf8');
  expect(JSON.parse(settings)).not.toHaveProperty('hooks');
  await flips(rig, agent);
});

test.concurrent('the same over HTTP; what starts, decides and ends stays a command', async () => {
  const { events } = await flips(rig, await createAgent(rig, 'http', 'http'));
  expect(ways(events)).toEqual({
    'command SessionStart': 1,
    'http UserPromptSubmit': 1,
    'http MessageDisplay': 4,
    'http PreToolUse': 2,
    'http PostToolUse': 2,
    'command Stop': 2,
    'command SessionEnd': 1,
  });
});

const TWICE: readonly Registration[] = ['plugin and settings', 'plugin and http'];

test.concurrent.for(TWICE)(
  'C4 the hook is registered twice (%s): each event once, one grade a stop',
  async (registration) => {
    const { events } = await flips(
      rig,
      await createAgent(rig, registration.replaceAll(' ', '-'), registration),
    );
    expect(new Set(events.map((event) => event.event_id)).size).toBe(events.length);
  },
);
