/** A session of the real Claude Code that flips, and everything that must then be true of it, on whatever log the rig has. */
import { expect } from 'vitest';
import { BLOCK_REASON } from '../../schemas/grade.ts';
import type { Agent } from './agent.ts';
import { expectChain, landed, outline, verified } from './evidence.ts';
import { failThenPass } from './replies.ts';
import type { Rig } from './rig.ts';
import { textOf } from './scripted-model.ts';

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

/** FAIL, block, fix, PASS, flip. */
export async function flips(rig: Rig, agent: Agent) {
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
