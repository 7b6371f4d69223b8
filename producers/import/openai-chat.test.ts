/** Chat messages in OpenAI's shape. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Bench, importBench, importTwice, jsonl } from './testing.ts';

let bench: Bench;
beforeEach(() => {
  bench = importBench();
});
afterEach(() => bench.remove());

test('a session a line', async () => {
  const call = { id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } };
  const messages = [
    { role: 'system', content: 'be good' },
    { role: 'user', content: 'fix' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c1', content: 'x' },
    { role: 'assistant', content: 'done' },
  ];
  const one = ['(system_prompt)', 'user fix', 'bash', 'assistant done'];
  expect(
    await importTwice(bench, 'chat.jsonl', jsonl([{ messages }, { messages: messages.slice(1) }])),
  ).toEqual([...one, ...one.slice(1)]);
});

test('calls that share an id are each told: with its own result, or as interrupted', async () => {
  const call = (command: string, id = 'call_0') => ({
    ...{ id, type: 'function' },
    function: { name: 'bash', arguments: JSON.stringify({ command }) },
  });
  const asked = (...tool_calls: object[]) => ({ role: 'assistant', content: null, tool_calls });
  const messages = [
    { role: 'user', content: 'fix' },
    asked(call('one')),
    asked(call('two')),
    { role: 'tool', tool_call_id: 'call_0', content: 'of two' },
    asked(call('three', ''), call('four', ''), call('five', '')),
    { role: 'tool', tool_call_id: '', content: 'of three' },
    { role: 'tool', tool_call_id: '', content: 'of four' },
  ];
  await importTwice(bench, 'chat.jsonl', jsonl([{ messages }]));
  const calls = bench.log.events.filter(({ type }) => type === 'tool_call');
  expect(calls.map((one) => [one.input_redacted, one.output_redacted, one.status, one.message_id])).toEqual([
    ['{"command":"two"}', 'of two', null, 'message 2'],
    ['{"command":"three"}', 'of three', null, 'message 4'],
    ['{"command":"four"}', 'of four', null, 'message 4'],
    ['{"command":"one"}', null, 'interrupted', 'message 1'],
    ['{"command":"five"}', null, 'interrupted', 'message 4'],
  ]);
});
