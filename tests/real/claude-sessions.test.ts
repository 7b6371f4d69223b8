/** Sessions of the real Claude Code side by side, one after another, inside one another. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAgent, SUBTASK } from '../support/agent.ts';
import { counts, expectChain, landed, outline, verified } from '../support/evidence.ts';
import { bash, call, failThenPass, fix, read, says } from '../support/replies.ts';
import { type Rig, startRig } from '../support/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => rig?.close());

test('two sessions at once in two clones: both flip, and nothing of one is in the other', async () => {
  const agents = await Promise.all(['left', 'right'].map((name) => createAgent(rig, name)));
  const runs = await Promise.all(
    agents.map(async (agent) => {
      const [look = [], ...rest] = failThenPass(agent.bill);
      const mark = `only in ${agent.clone}`;
      const script = [[...look, bash(`echo '${mark}'`)], ...rest];
      const { sessionId } = await agent.run(`Fix splitBill, ${mark}.`, script);
      return { sessionId, mark, clone: agent.clone };
    }),
  );
  const [one, two] = runs;
  if (!one || !two) throw new Error('two runs');
  for (const [own, other] of [
    [one, two],
    [two, one],
  ] as const) {
    await landed(rig, own.sessionId, 'flipped');
    const events = await expectChain(rig, own.sessionId);
    const text = JSON.stringify(events);
    expect(text).toContain(own.mark);
    expect(text).not.toContain(other.clone);
    expect(text).not.toContain(other.sessionId);
    expect(await verified(rig, own.sessionId)).toMatchObject({ state: 'intact', flip: true, problems: [] });
  }
});

test('C2 resuming a session sends nothing again: one more session_start, and the chain goes on', async () => {
  const agent = await createAgent(rig, 'resumed');
  const { sessionId } = await agent.run('Fix splitBill.', failThenPass(agent.bill));
  await landed(rig, sessionId, 'flipped');
  const before = await expectChain(rig, sessionId);
  const resumes = [['--resume', sessionId], ['--continue']];
  for (const [n, args] of resumes.entries()) {
    const { requests } = await agent.run(
      `Go on, ${n}.`,
      [[says(`I look, ${n}.`), read(agent.bill)], [says('Good.')]],
      {
        sessionId,
        args,
      },
    );
    // the harness did send the conversation so far to the model again
    expect(JSON.stringify(requests[0]?.messages)).toContain('Held. I fix it.');
    const ends = () =>
      rig.sql(`SELECT count(*) n FROM events WHERE session_id = '${sessionId}' AND type = 'session_end'`);
    await expect.poll(ends, { timeout: 30_000 }).toEqual([{ n: n + 2 }]);
  }
  await landed(rig, sessionId, 'flipped');
  const after = await expectChain(rig, sessionId);
  expect(after.slice(0, before.length)).toEqual(before);
  const more = [
    'session_start',
    'message user',
    'message assistant',
    'notice call_started Read',
    'tool_call Read ok',
    'message assistant',
    'notice stop',
    'session_end',
  ];
  expect(outline(after.slice(before.length))).toEqual([...more, ...more]);
  const starts = after.filter((event) => event.type === 'session_start');
  expect(starts.map((event) => event.source)).toEqual(['startup', 'resume', 'resume']);
  expect(new Set(after.map((event) => event.chain_id)).size).toBe(1);
  expect(await rig.sql(`SELECT attempt FROM flips WHERE session_id = '${sessionId}'`)).toEqual([
    { attempt: 2 },
  ]);
  expect(await verified(rig, sessionId)).toMatchObject({ state: 'intact', flip: true, problems: [] });
});

// These run at once: each waits for its harness most of the time.
test.concurrent.each([
  ['waited for', false],
  ['in the background', true],
])('C6 a subagent %s: its events are its own, and it has neither gate nor end', async (_, background) => {
  const agent = await createAgent(rig, `sub-${background}`);
  const input = { description: 'look', prompt: SUBTASK, subagent_type: 'general-purpose' };
  const main = [
    [says('I send someone.'), call('Agent', { ...input, run_in_background: background })],
    [says('It is on its way.')],
    ...(background ? [[says('It is back.'), fix(agent.bill)], [says('Done.')]] : []),
  ];
  const script = background ? main : [main[0] ?? [], [says('It is back.'), fix(agent.bill)], [says('Done.')]];
  const sub = [[says('I look.'), bash('echo from the subagent')], [says('I have looked.')]];
  const run = await agent.run('Fix it with help.', script, { subagent: sub });
  expect(run.subagent).toHaveLength(2);
  await landed(rig, run.sessionId, 'flipped');
  const events = await expectChain(rig, run.sessionId);
  const own = events.filter((event) => event.agent_id !== null);
  expect(counts(outline(own))).toEqual({
    'notice subagent_start': 1,
    'notice call_started Bash': 1,
    'tool_call Bash ok': 1,
    'message assistant': 1,
    'notice subagent_stop': 1,
  });
  const launch = events.find((event) => event.type === 'tool_call' && event.tool_name === 'Agent');
  expect(new Set(own.map((event) => [event.agent_type, event.parent_tool_use_id].join()))).toEqual(
    new Set([`general-purpose,${launch?.tool_use_id}`]),
  );
  expect(new Set(own.map((event) => event.agent_id)).size).toBe(1);
  const bashes = events.filter((event) => event.tool_name === 'Bash');
  expect(bashes.filter((event) => event.agent_id === null)).toEqual([]);
  expect(own.find((event) => event.type === 'message')?.text_redacted).toBe('I have looked.');

  const graded = events.filter(
    (event) => event.kind === 'grade_requested' || event.type === 'oracle_verdict',
  );
  expect(graded.map((event) => event.agent_id)).toEqual([null, null]);
  expect(events.filter((event) => event.type === 'session_end')).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ type: 'session_end', agent_id: null });
});

test.concurrent('C5 failed and denied tool calls, and those that never ran, are events with what the model was told', async () => {
  const agent = await createAgent(rig, 'failures');
  const calls = [
    bash('echo out; echo err >&2; exit 3'),
    bash('grep nothing-of-the-kind package.json'),
    call('WebFetch', { url: 'http://127.0.0.1:9/', prompt: 'read it' }),
    read(join(agent.clone, 'not-there.js')),
    call('Edit', { file_path: agent.bill, old_string: 'not in it', new_string: 'x' }),
    call('Bash', { cmd: 'misspelt' }),
    call('NoSuchTool', {}),
    call('Bash', { command: 'sleep 20', timeout: 500 }),
  ];
  // one at a time, since a failure of one cancels what runs beside it
  const script = [...calls.map((one) => [one]), [says('That is all.'), fix(agent.bill)], [says('Done.')]];
  const { sessionId, requests } = await agent.run('Try things.', script);
  await landed(rig, sessionId, 'flipped');
  const events = await expectChain(rig, sessionId);
  const ended = events.filter((event) => event.type === 'tool_call');
  expect(ended.map(({ tool_name, status, exit_code }) => [tool_name, status, exit_code])).toEqual([
    ['Bash', 'error', 3],
    ['Bash', 'ok', null],
    ['WebFetch', 'denied', null],
    ['Read', 'error', null],
    ['Edit', 'error', null],
    ['Bash', 'error', null],
    ['NoSuchTool', 'error', null],
    ['Bash', 'error', 143],
    ['Edit', 'ok', null],
  ]);
  expect(ended[0]?.output_redacted).toBe('Exit code 3\nout\nerr');
  expect(events.filter((event) => event.kind === 'permission_request')).toHaveLength(1);
  const shown = JSON.stringify(requests.at(-1)?.messages);
  for (const event of ended) expect(shown).toContain(JSON.stringify(event.output_redacted).slice(1, -1));
  const [row] = await rig.sql(
    `SELECT tool_calls, tool_errors FROM sessions WHERE session_id = '${sessionId}'`,
  );
  expect(row).toEqual({ tool_calls: 9, tool_errors: 7 });
});

test.concurrent('rule files are recorded with their text as they were when they were loaded', async () => {
  const agent = await createAgent(rig, 'rules');
  const rules = '# Rules\n\nShares are whole cents; nobody’s cent is lost.\n';
  const file = join(agent.clone, 'CLAUDE.md');
  writeFileSync(file, rules);
  const { sessionId, requests } = await agent.run('Hello.', [
    [bash(`rm ${file}`), fix(agent.bill)],
    [says('Gone.')],
  ]);
  expect(JSON.stringify(requests[0]?.messages)).toContain('nobody’s cent is lost');
  // the file is none of the base's, so whatever passes here is no flip
  const row = await landed(rig, sessionId, 'ungraded');
  expect(row.marks).toContain('inherited');
  const events = await expectChain(rig, sessionId);
  const loaded = events.filter((event) => event.kind === 'rules_loaded');
  expect(loaded.map((event) => [event.text_redacted, event.type])).toEqual([[rules, 'notice']]);
  expect(JSON.parse(loaded[0]?.input_redacted ?? '')).toMatchObject({
    file_path: file,
    memory_type: 'Project',
  });
  // with other rules it is another configuration than that of the sessions before it
  const start = events.find((event) => event.type === 'session_start');
  expect(start?.config_hash).toMatch(/^[0-9a-f]{64}$/);
  const same = await rig.sql(
    `SELECT DISTINCT session_id FROM events WHERE type = 'session_start' AND config_hash = '${start?.config_hash}'`,
  );
  expect(same).toEqual([{ session_id: sessionId }]);
});
