/** SWE-agent's `.traj` without steps, such as its demonstrations of function calling are, and mini-swe-agent's, which is like it. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Bench, importBench, importTwice } from './testing.ts';

let bench: Bench;
beforeEach(() => {
  bench = importBench();
});
afterEach(() => bench.remove());

const opening = [
  { role: 'system', content: 'be good', agent: 'main', message_type: 'system_prompt' },
  { role: 'user', content: 'like this', agent: 'main', is_demo: true, message_type: 'demonstration' },
  { role: 'user', content: 'fix', agent: 'main', message_type: 'observation' },
];
const told = ['(system_prompt)', '(demonstration)', 'user fix'];

test('with function calls', async () => {
  const call = (id: string, name: string, given: object) => ({
    ...{
      role: 'assistant',
      content: `I ${name}`,
      thought: `I ${name}`,
      agent: 'main',
      message_type: 'action',
    },
    ...{ action: `${name} x`, tool_calls: [{ id, type: 'function', function: { name, arguments: given } }] },
  });
  const seen = (id: string, content: string) => ({
    ...{ role: 'tool', content, agent: 'main', message_type: 'observation', tool_call_ids: [id] },
  });
  const history = [
    ...opening,
    call('c1', 'open', { path: 'a' }),
    seen('c1', 'text of a'),
    call('c2', 'bash', { command: 'sleep 99' }),
    seen('c2', 'EXECUTION TIMED OUT after 9 s'),
    call('c3', 'submit', {}),
  ];
  expect(await importTwice(bench, 'demo.traj', JSON.stringify({ history }, null, 2))).toEqual([
    ...told,
    ...['assistant I open', 'open', 'assistant I bash', 'bash interrupted'],
    ...['assistant I submit', 'submit interrupted'],
  ]);
  expect(bench.log.events.find(({ tool_use_id }) => tool_use_id === 'c1')).toMatchObject({
    ...{ input_redacted: '{"path":"a"}', output_redacted: 'text of a', original_id: 'demo' },
  });
});

test('with commands in text, and with what came of it', async () => {
  const document = {
    history: [
      ...opening,
      { role: 'assistant', content: 'look\n```\nls\n```', thought: 'look', action: 'ls', agent: 'main' },
      { role: 'user', content: 'a.py', agent: 'main' },
      { role: 'assistant', content: '', action: 'submit', agent: 'main' },
      { role: 'user', content: 'done', agent: 'main' },
      { role: 'user', content: 'and more', agent: 'main' },
    ],
    ...{ info: { exit_status: 'submitted', submission: 'diff' }, trajectory: [] },
  };
  expect(await importTwice(bench, 'a.traj', JSON.stringify(document))).toEqual([
    ...told,
    ...['assistant look\n```\nls\n```', 'bash', 'submit', 'user and more', '(submission)'],
  ]);
});

test('a call of which the agent goes on without a result is told as interrupted', async () => {
  const answer = (action: string) => ({ role: 'assistant', content: 'go', action, agent: 'main' });
  const history = [
    ...opening,
    answer('sleep 9'),
    answer('ls'),
    { role: 'user', content: 'a.py', agent: 'main' },
  ];
  expect(await importTwice(bench, 'demo.traj', JSON.stringify({ history }))).toEqual([
    ...told,
    ...['assistant go', 'assistant go', 'bash', 'bash interrupted'],
  ]);
  const mini = [
    ...[
      { role: 'system', content: 'be good' },
      { role: 'user', content: 'fix' },
    ],
    ...['sleep 9', 'ls'].map((command) => ({
      role: 'assistant',
      content: `\`\`\`mswea_bash_command\n${command}\n\`\`\``,
    })),
    { role: 'user', content: '<returncode>0</returncode>' },
  ];
  const before = bench.log.events.length;
  bench.file('mini.traj.json', JSON.stringify(mini));
  expect((await bench.run()).reasons).toEqual({});
  const calls = bench.log.events.slice(before).filter(({ type }) => type === 'tool_call');
  expect(calls.map(({ input_redacted: input, status }) => [input, status])).toEqual([
    ['{"command":"ls"}', 'ok'],
    ['{"command":"sleep 9"}', 'interrupted'],
  ]);
});
