/** Calls made at once stand together in every export, and those made after a result stand after it. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { assembleAll, entry, told } from '../producers/collector/testing.ts';
import { type Bench, importBench, jsonl } from '../producers/import/testing.ts';
import type { TraceEvent } from '../schemas/generated.ts';
import { blankEvent } from '../schemas/testing.ts';
import { toAtif } from './export-atif.ts';
import { toClaudeJsonl, toOpenAi } from './export-chat.ts';

let bench: Bench;
beforeEach(() => {
  bench = importBench();
});
afterEach(() => bench.remove());

interface Called {
  tool_calls?: { id?: string; tool_call_id?: string }[];
}

/** By answer, the calls that it made. */
function inChat(events: readonly TraceEvent[]): (string | undefined)[][] {
  const messages = toOpenAi(events).flatMap((one) => (Array.isArray(one.messages) ? one.messages : []));
  return messages.flatMap(({ tool_calls: calls }: Called) => (calls ? [calls.map(({ id }) => id)] : []));
}

function inAtif(events: readonly TraceEvent[]): (string | undefined)[][] {
  const { steps } = toAtif(events);
  return (Array.isArray(steps) ? steps : []).flatMap(({ tool_calls: calls }: Called) =>
    calls ? [calls.map(({ tool_call_id: id }) => id)] : [],
  );
}

const AT = (second: number) => `2026-01-01T00:00:0${second}.000Z`;
const chatCall = (id: string) => ({ id, type: 'function', function: { name: 'bash', arguments: '{}' } });
const chat = [
  { role: 'user', content: 'fix' },
  { role: 'assistant', content: 'look', tool_calls: [chatCall('a'), chatCall('b')] },
  { role: 'tool', tool_call_id: 'a', content: 'x' },
  { role: 'tool', tool_call_id: 'b', content: 'y' },
  { role: 'assistant', content: null, tool_calls: [chatCall('c')] },
  { role: 'tool', tool_call_id: 'c', content: 'z' },
  { role: 'assistant', content: 'done' },
];

const claudeRow = (n: number, type: string, id: string | undefined, block: object) => ({
  ...{ uuid: `u${n}`, sessionId: 's', timestamp: AT(n), type },
  message: { ...(id ? { id } : {}), role: type, content: [block] },
});
const use = (n: number, id: string, call: string) =>
  claudeRow(n, 'assistant', id, { type: 'tool_use', id: call, name: 'Bash', input: {} });
const result = (n: number, call: string) =>
  claudeRow(n, 'user', undefined, { type: 'tool_result', tool_use_id: call, content: 'x' });

const item = (n: number, type: string, call_id: string) => ({
  ...{ timestamp: AT(n), type: 'response_item' },
  payload: {
    type,
    call_id,
    ...(type === 'function_call' ? { name: 'exec', arguments: '{}' } : { output: 'x' }),
  },
});
const sdk = (n: number, kind: string, tool_call_id: string, llm_response_id?: string) => ({
  ...{ id: `e${n}`, kind, timestamp: AT(n), tool_call_id, tool_name: 'terminal' },
  ...(kind === 'ActionEvent' ? { action: {}, llm_response_id } : { observation: { content: 'x' } }),
});
const effect = (n: number, effect_type: string, tool_call_id: string) => ({
  ...{ sequence: n, scope_id: 'root' },
  effect: { effect_type, tool_call_id, tool_name: 'Bash', timestamp: 1780000000 + n },
});

const FORMATS: Readonly<Record<string, object[]>> = {
  'chat messages': [{ messages: chat }],
  // each result stands right behind its call, as it came
  'Claude Code': [
    ...[use(0, 'm1', 'a'), result(1, 'a'), use(2, 'm1', 'b'), result(3, 'b')],
    ...[use(4, 'm2', 'c'), result(5, 'c')],
  ],
  Codex: [
    { timestamp: AT(0), type: 'session_meta', payload: { id: 't' } },
    ...[item(1, 'function_call', 'a'), item(2, 'function_call', 'b')],
    ...[item(3, 'function_call_output', 'a'), item(4, 'function_call_output', 'b')],
    ...[item(5, 'function_call', 'c'), item(6, 'function_call_output', 'c')],
  ],
  'OpenHands’ SDK': [
    ...[sdk(0, 'ActionEvent', 'a', 'r1'), sdk(1, 'ObservationEvent', 'a')],
    ...[sdk(2, 'ActionEvent', 'b', 'r1'), sdk(3, 'ObservationEvent', 'b')],
    ...[sdk(4, 'ActionEvent', 'c', 'r2'), sdk(5, 'ObservationEvent', 'c')],
  ],
  Shepherd: [
    ...[effect(0, 'tool_call_started', 'a'), effect(1, 'tool_call_started', 'b')],
    ...[effect(2, 'tool_call_completed', 'b'), effect(3, 'tool_call_completed', 'a')],
    ...[effect(4, 'tool_call_started', 'c'), effect(5, 'tool_call_completed', 'c')],
  ],
};

test.for(Object.entries(FORMATS))('%s', async ([name, lines]) => {
  bench.file('a.jsonl', jsonl(lines));
  expect((await bench.run()).reasons).toEqual({});
  const { events } = bench.log;
  const expected = [name === 'Shepherd' ? ['b', 'a'] : ['a', 'b'], ['c']];
  expect(inChat(events)).toEqual(expected);
  expect(inAtif(events)).toEqual(expected);
  const elsewhere = importBench();
  elsewhere.file('b.jsonl', jsonl(toClaudeJsonl(events)));
  await elsewhere.run();
  elsewhere.remove();
  expect(inChat(elsewhere.log.events), 'as a transcript, too').toEqual(expected);
});

test('a chat comes out message for message as it went in', async () => {
  bench.file('a.jsonl', jsonl([{ messages: chat }]));
  await bench.run();
  expect(toOpenAi(bench.log.events)[0]?.messages).toEqual(chat);
});

test('ATIF’s steps are the chat’s answers; parts of one message of OpenCode are several', async () => {
  const step = (n: number, calls: string[]) => ({
    ...{ step_id: n, source: 'agent', message: '' },
    tool_calls: calls.map((id) => ({ tool_call_id: id, function_name: 'bash', arguments: {} })),
  });
  const agent = { name: 'x', version: '1' };
  const steps = [step(1, ['a', 'b']), step(2, ['c'])];
  bench.file(
    'a.json',
    JSON.stringify({ schema_version: 'ATIF-v1.0', session_id: 's', agent, steps }, null, 1),
  );
  await bench.run();
  expect(inChat(bench.log.events)).toEqual([['a', 'b'], ['c']]);
  const part = (id: string) => ({
    ...{ id, type: 'tool', tool: 'bash', callID: id },
    state: { status: 'completed', input: {}, output: 'x' },
  });
  const parts = [{ type: 'step-start' }, part('a'), part('b'), { type: 'step-start' }, part('c')];
  const info = { id: 'ses', time: { created: 1773867525000 } };
  const document = { info, messages: [{ info: { ...info, id: 'm', role: 'assistant' }, parts }] };
  const opencode = importBench();
  opencode.file('b.json', JSON.stringify(document, null, 1));
  expect((await opencode.run()).reasons).toEqual({});
  opencode.remove();
  expect(inChat(opencode.log.events)).toEqual([['a', 'b'], ['c']]);
});

test('of a session that was captured live, by when each call began', () => {
  const { events } = assembleAll([
    ...[entry(told.callStarted('a')), entry(told.callEnded('a'))],
    ...[entry(told.callStarted('b')), entry(told.callEnded('b')), entry(told.batch('a', 'b'))],
    ...[entry(told.callStarted('c')), entry(told.callEnded('c')), entry(told.batch('c'))],
  ]);
  const live = events.map(({ type, fields }, seq): TraceEvent => {
    const textOf = (value: unknown) => (typeof value === 'string' ? value : null);
    const named = { kind: textOf(fields.kind), tool_use_id: textOf(fields.tool_use_id) };
    return { ...blankEvent(), ...{ session_id: 's', chain_id: 'c', seq, type }, ...named };
  });
  expect(inChat(live)).toEqual([['a', 'b'], ['c']]);
  expect(inAtif(live)).toEqual([['a', 'b'], ['c']]);
});
