/** A short session of each format: what of it becomes what. Recorded to the formats' published definitions. */

import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importedId } from './chains.ts';
import { type Bench, importBench, importTwice, jsonl, toldTo } from './testing.ts';

let bench: Bench;
beforeEach(() => {
  bench = importBench();
});
afterEach(() => bench.remove());

test('OpenCode', async () => {
  const part = (id: string, rest: object) => ({ id, ...rest });
  const tool = {
    type: 'tool',
    tool: 'bash',
    callID: 'c1',
    state: { status: 'completed', input: { command: 'false' }, output: 'no', metadata: { exit: 1 } },
  };
  const document = {
    info: { id: 'ses_1', version: '1.18.31', time: { created: 1773867525000 } },
    messages: [
      {
        info: { id: 'm0', role: 'user', time: { created: 1773867525015 } },
        parts: [part('p0', { type: 'text', text: 'fix' })],
      },
      {
        info: { id: 'm1', role: 'assistant', modelID: 'x', time: { created: 1773867525023 } },
        parts: [
          part('p1', { type: 'step-start' }),
          part('p2', { type: 'text', text: 'ok' }),
          part('p3', tool),
          part('p4', { ...tool, tool: 'context7_query-docs', callID: 'c2' }),
        ],
      },
    ],
  };
  expect(await importTwice(bench, 'export.json', JSON.stringify(document, null, 1))).toEqual([
    ...['user fix', '(prompt_details)', '(step-start)', 'assistant ok', 'bash error 1'],
    ...['context7_query-docs error 1', '(answer_details)'],
  ]);
  // By the names that its harness gives, as live.
  expect(bench.log.events.flatMap(({ tool_kind }) => tool_kind ?? [])).toEqual(['shell', 'mcp']);
});

const GEMINI = [
  { id: 'g1', timestamp: '2026-01-01T00:00:00.000Z', type: 'user', content: [{ text: 'fix' }] },
  {
    ...{
      id: 'g2',
      timestamp: '2026-01-01T00:00:01.000Z',
      type: 'gemini',
      content: 'ok',
      model: 'g',
      thoughts: [{ subject: 'a', description: 'b' }],
    },
    toolCalls: [
      {
        id: 'c1',
        name: 'run_shell_command',
        args: {},
        status: 'error',
        result: [{ functionResponse: { response: { error: 'no' } } }],
      },
    ],
  },
  { id: 'g3', timestamp: '2026-01-01T00:00:02.000Z', type: 'info', content: 'told' },
];
const GEMINI_TOLD = ['user fix', '(thinking)', 'assistant ok', 'run_shell_command error', '(info)'];

test('Gemini, as a document and in lines', async () => {
  const meta = { sessionId: 'g', projectHash: 'h', startTime: '2026-01-01T00:00:00.000Z' };
  expect(await importTwice(bench, 'session-1.json', JSON.stringify({ ...meta, messages: GEMINI }))).toEqual(
    GEMINI_TOLD,
  );
  bench.file('session-2.jsonl', jsonl([{ ...meta, sessionId: 'h' }, ...GEMINI, { $set: { summary: 'x' } }]));
  await bench.run();
  expect(toldTo(bench).slice(GEMINI_TOLD.length)).toEqual([...GEMINI_TOLD, '(session_set)']);
});

test('mini-swe-agent 1.x and 2.x: commands in text, as calls, and as items of OpenAI’s Responses API', async () => {
  const told = [
    '(system_prompt)',
    'user fix',
    'assistant I look',
    'bash error 1',
    'assistant done',
    '(exit)',
  ];
  const begin = [
    { role: 'system', content: 'be good' },
    { role: 'user', content: 'fix' },
  ];
  const text = 'I look\n```mswea_bash_command\nfalse\n```';
  const first = [
    ...begin,
    { role: 'assistant', content: text },
    { role: 'user', content: '<returncode>1</returncode>\n<output>no</output>' },
    { role: 'assistant', content: 'done' },
  ];
  expect(await importTwice(bench, 'one.traj.json', JSON.stringify(first))).toEqual([
    ...['(system_prompt)', 'user fix', `assistant ${text}`, 'bash error 1', 'assistant done'],
  ]);
  const exit = { role: 'exit', content: '', extra: { exit_status: 'Submitted', submission: 'diff' } };
  const result = { raw_output: 'no', returncode: 1, timestamp: 1780000001 };
  const actions = [{ command: 'false' }];
  const call = { id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"false"}' } };
  const item = { type: 'function_call', call_id: 'c1', name: 'bash', arguments: '{"command":"false"}' };
  const said = (type: string) => [{ type, text: 'I look' }];
  const ways = [
    [
      { role: 'assistant', content: 'I look', extra: { actions } },
      { role: 'user', content: 'no', extra: result },
    ],
    [
      { role: 'assistant', content: 'I look', tool_calls: [call], extra: { actions } },
      { role: 'tool', tool_call_id: 'c1', content: 'no', extra: result },
    ],
    [
      {
        ...{ object: 'response', extra: { actions } },
        output: [{ type: 'message', role: 'assistant', content: said('output_text') }, item],
      },
      { type: 'function_call_output', call_id: 'c1', output: 'no', extra: result },
    ],
  ];
  for (const [n, way] of ways.entries()) {
    const before = toldTo(bench).length;
    const messages = [...begin, ...way, { role: 'assistant', content: 'done' }, exit];
    const document = { info: { mini_version: '2.4.6' }, messages, trajectory_format: 'mini-swe-agent-1.1' };
    bench.file(`two-${n}.traj.json`, JSON.stringify(document, null, 2));
    expect((await bench.run()).reasons).toEqual({});
    expect(toldTo(bench).slice(before), String(n)).toEqual(told);
    expect(bench.log.events.findLast(({ type }) => type === 'tool_call')).toMatchObject({
      input_redacted: '{"command":"false"}',
      output_redacted: 'no',
    });
  }
});

test('OpenHands, before its SDK and after', async () => {
  const run = { action: 'run', source: 'agent', args: { command: 'false', thought: 'try' } };
  const old = [
    {
      id: 0,
      timestamp: '2025-02-01T00:14:10.787622',
      source: 'user',
      action: 'message',
      args: { content: 'fix' },
    },
    { id: 1, timestamp: '2025-02-01T00:14:11.787622', ...run },
    {
      id: 2,
      source: 'agent',
      observation: 'run',
      cause: 1,
      content: 'no',
      extras: { metadata: { exit_code: 1 } },
    },
    { id: 3, source: 'agent', action: 'finish', args: { final_thought: 'done' } },
  ];
  const expected = ['user fix', 'assistant try', 'run error 1', 'assistant done', '(finish)'];
  expect(await importTwice(bench, 'old.json', JSON.stringify(old))).toEqual(expected);
  const event = (id: string, kind: string, rest: object) => ({
    id,
    kind,
    timestamp: '2026-06-16T05:39:18.809928',
    ...rest,
  });
  const lines = [
    event('e1', 'MessageEvent', {
      source: 'user',
      llm_message: { role: 'user', content: [{ type: 'text', text: 'fix' }] },
    }),
    event('e2', 'ActionEvent', {
      thought: [{ type: 'text', text: 'try' }],
      action: { command: 'false' },
      tool_name: 'terminal',
      tool_call_id: 'c1',
    }),
    event('e3', 'ObservationEvent', {
      tool_name: 'terminal',
      tool_call_id: 'c1',
      observation: { content: [{ type: 'text', text: 'no' }], exit_code: 1 },
    }),
    event('e4', 'ConversationStateUpdateEvent', { key: 'stats' }),
  ];
  bench.file('events.jsonl', jsonl(lines));
  await bench.run();
  expect(toldTo(bench).slice(expected.length)).toEqual([
    'user fix',
    'assistant try',
    'terminal error 1',
    '(ConversationStateUpdateEvent)',
  ]);
});

test('Shepherd: the timeline, a stream, a scope’s lines, a durable trace', async () => {
  const effects = [
    { effect_type: 'prompt_sent', user_prompt: 'fix', timestamp: 1780000000 },
    {
      effect_type: 'tool_call_started',
      tool_call_id: 'c1',
      tool_name: 'Bash',
      params: {},
      timestamp: 1780000001,
    },
    {
      effect_type: 'tool_call_completed',
      tool_call_id: 'c1',
      tool_name: 'Bash',
      success: false,
      output: 'no',
      timestamp: 1780000002,
    },
    { effect_type: 'task_failed', error: 'x', timestamp: 1780000003 },
  ];
  const expected = ['user fix', 'Bash error', '(task_failed)'];
  const timeline = { total_effects: 4, effect_types: ['prompt_sent'], timeline: effects };
  expect(await importTwice(bench, 'a.json', JSON.stringify(timeline, null, 2))).toEqual(expected);
  bench.file('stream.json', JSON.stringify(effects.map((effect, _sequence) => ({ _sequence, ...effect }))));
  bench.file(
    'scope_1.jsonl',
    jsonl(effects.map((effect, sequence) => ({ effect, sequence, scope_id: 'root' }))),
  );
  const trace = {
    schema: 'vcscore/trace-revision/v1',
    kind: 'shepherd.task_trace',
    trace_owner_id: 't',
    events: [{ id: '1', kind: 'check.violation' }],
    causal_edges: [],
  };
  bench.file('t.trace.json', JSON.stringify(trace, null, 2));
  await bench.run();
  expect(toldTo(bench).slice(expected.length)).toEqual([...expected, ...expected, '(check.violation)']);
});

test('a report says how its trajectory came out, and nothing is signed', async () => {
  const traj = {
    environment: 'task-1',
    trajectory: [{ action: 'ls', observation: 'x', response: 'look' }],
    history: [],
  };
  bench.file(join('run', 'task-1.traj'), JSON.stringify(traj));
  bench.file(
    join('run', 'task-1.report.json'),
    JSON.stringify({ patch_exists: true, resolved: true, tests_status: {} }),
  );
  bench.file('stray.report.json', JSON.stringify({ patch_exists: true, resolved: true }));
  const report = await bench.run();
  expect(report.reasons).toEqual({ 'a report of a trajectory that was not imported': 1 });
  const label = bench.log.events.find(({ kind }) => kind === 'evaluation_report');
  expect(label).toMatchObject({
    verdict: 'PASS',
    reason: 'resolved',
    capture: 'imported',
    original_id: 'task-1',
    request_id: null,
  });
  expect(label?.session_id).toMatch(importedId('swe-agent', ''));
});
