/** FAIL, block, fix, PASS, flip with the real Claude Code, by each way of registering the hook. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BLOCK_REASON } from '../../schemas/grade.ts';
import { type Agent, createAgent, type Registration } from '../support/agent.ts';
import { counts, expectChain, landed, outline, verified } from '../support/evidence.ts';
import { failThenPass } from '../support/replies.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { textOf } from '../support/scripted-model.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ transport: 'http' });
});
afterAll(async () => rig?.close());

/** What the session is, in the order of its chain; the parts that begin a session run at once. */
const BODY = [
  'message user',
  'message assistant',
  'notice call_started Read',
  'tool_call Read ok',
  'message assistant',
  'notice stop',
  'notice grade_requested',
  'oracle_verdict FAIL',
  'message assistant',
  'notice call_started Edit',
  'tool_call Edit ok',
  'message assistant',
  'notice stop',
  'notice grade_requested',
  'oracle_verdict PASS',
  'session_end',
];

async function flips(agent: Agent) {
  const { sessionId, requests } = await agent.run('Fix splitBill.', failThenPass(agent.bill));
  const row = await landed(rig, sessionId, 'flipped');
  expect(row).toMatchObject({
    harness: 'claude-code',
    task_id: 'demo-split-bill',
    task_source: 'dispatch',
    attempts: 2,
    turns: 1,
    messages: 5,
    tool_calls: 2,
    tool_errors: 0,
    gaps: 0,
    marks: ['capture_same_user'],
    usable: true,
  });

  // the agent was held by the constant sentence and nothing else
  const held = textOf(requests[2]?.messages.at(-1)?.content ?? '');
  expect(held).toContain(BLOCK_REASON);
  expect(requests.filter((request) => JSON.stringify(request.messages).includes('FAIL'))).toEqual([]);

  const events = await expectChain(rig, sessionId);
  expect(outline(events)).toEqual(['session_start', ...BODY]);
  expect(new Set(events.map((event) => event.host_id)).size).toBe(1);
  expect(events.filter((event) => event.synthetic)).toEqual([]);

  const flip = await rig.sql(`SELECT * FROM flips WHERE session_id = '${sessionId}'`);
  expect(flip).toMatchObject([{ task_id: 'demo-split-bill', attempt: 2, retracted: null }]);
  const verdicts = await rig.sql(
    `SELECT mode, verdict, attempt FROM verdicts WHERE _key = '${sessionId}' ORDER BY attempt`,
  );
  expect(verdicts).toMatchObject([
    { mode: 'baseline', attempt: 0 },
    { mode: 'grade', verdict: 'FAIL', attempt: 1 },
    { mode: 'grade', verdict: 'PASS', attempt: 2 },
  ]);
  expect(await verified(rig, sessionId)).toMatchObject({
    state: 'intact',
    flip: true,
    outcome: 'flipped',
    problems: [],
  });
  return { events, sessionId };
}

/** By what way each event came. */
const ways = (events: Awaited<ReturnType<typeof flips>>['events']) =>
  counts(
    events
      .filter((event) => event.harness_event !== null)
      .map((event) => `${event.transport} ${event.harness_event}`),
  );

test.concurrent('FAIL, block, fix, PASS, flip: command hooks as init registers them', async () => {
  const { events } = await flips(await createAgent(rig, 'commands'));
  expect(Object.keys(ways(events)).filter((way) => way.startsWith('http'))).toEqual([]);
});

test.concurrent('the same through the plugin, installed from the marketplace, and nothing in the settings', async () => {
  const agent = await createAgent(rig, 'plugin', 'plugin');
  const settings = readFileSync(join(agent.home, '.claude', 'settings.json'), 'utf8');
  expect(JSON.parse(settings)).not.toHaveProperty('hooks');
  await flips(agent);
});

test.concurrent('the same over HTTP; what starts, decides and ends stays a command', async () => {
  const { events } = await flips(await createAgent(rig, 'http', 'http'));
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

test.concurrent('C4 the hook is registered twice (plugin and settings): each event once, one grade a stop', async () => {
  const registration: Registration = 'plugin and settings';
  const { events } = await flips(await createAgent(rig, 'twice', registration));
  expect(new Set(events.map((event) => event.event_id)).size).toBe(events.length);
});
