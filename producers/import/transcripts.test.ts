/** Claude Code's and Codex's own files: subagents, forks, compaction, files that grow. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { toAtif } from '../../jobs/export-atif.ts';
import { toOpenAi } from '../../jobs/export-chat.ts';
import { traceFile } from '../collector/trace-files.ts';
import { type Bench, importBench, importTwice, jsonl, toldTo, transcript } from './testing.ts';

let bench: Bench;
beforeEach(() => {
  bench = importBench();
});
afterEach(() => bench.remove());

test('Codex, also as .zst; a fork repeats nothing', async () => {
  const line = (second: number, type: string, payload: object) => ({
    timestamp: `2026-08-28T10:00:0${second}.000Z`,
    type,
    payload,
  });
  const item = (second: number, payload: object) => line(second, 'response_item', payload);
  const lines = [
    line(0, 'session_meta', { id: 'thread-1', cwd: '/w', cli_version: '0.149.0' }),
    line(1, 'turn_context', { model: 'gpt-5.5' }),
    item(2, {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: '<environment_context>x' }],
    }),
    item(2, { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'fix it' }] }),
    line(2, 'event_msg', { type: 'user_message', message: 'fix it' }),
    item(3, { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }),
    item(4, { type: 'function_call', name: 'exec_command', arguments: '{"cmd":"false"}', call_id: 'c1' }),
    item(5, {
      type: 'function_call_output',
      call_id: 'c1',
      output: 'Process exited with code 1\nOutput:\nno',
    }),
    item(6, { type: 'custom_tool_call', name: 'apply_patch', call_id: 'c2', input: '*** Begin Patch' }),
    item(7, {
      type: 'custom_tool_call_output',
      call_id: 'c2',
      output: '{"output":"ok","metadata":{"exit_code":0,"duration_seconds":0.1}}',
    }),
    item(8, { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] }),
  ];
  expect(await importTwice(bench, 'rollout.jsonl.zst', zstdCompressSync(jsonl(lines)))).toEqual([
    ...[
      '(turn_context)',
      '(context)',
      'user fix it',
      '(thinking)',
      'exec_command error 1',
      'apply_patch ok 0',
      'assistant done',
    ],
  ]);
  const fork = [
    line(9, 'session_meta', { id: 'thread-2', forked_from_id: 'thread-1' }),
    ...lines.slice(1),
    item(9, { type: 'message', role: 'user', content: 'more' }),
  ];
  bench.file('fork.jsonl', jsonl(fork));
  const report = await bench.run();
  expect(report.formats.codex).toMatchObject({ messages: 1, tool_calls: 0 });
  expect(bench.log.events.findLast(({ type }) => type === 'session_start')).toMatchObject({
    parent_session_id: 'thread-1',
    source: 'fork',
  });
});

test('Claude Code: subagents, compaction, forks, calls that never ended, sessions that were captured live', async () => {
  const row = (uuid: string, rest: object) => ({
    uuid,
    sessionId: 's1',
    timestamp: '2026-01-01T00:00:00.000Z',
    ...rest,
  });
  const more = [
    row('u5', { type: 'user', isSidechain: true, agentId: 'a1', message: { role: 'user', content: 'look' } }),
    row('u6', { type: 'system', subtype: 'compact_boundary' }),
    row('u7', { type: 'user', isCompactSummary: true, message: { role: 'user', content: 'so far' } }),
    row('u8', {
      type: 'assistant',
      message: { role: 'assistant', content: [{ type: 'tool_use', id: 't9', name: 'Read', input: {} }] },
    }),
    { type: 'summary', summary: 'x', leafUuid: 'u8' },
  ];
  expect(await importTwice(bench, 's1.jsonl', jsonl(transcript('s1', more)))).toEqual([
    ...[
      'user do it',
      'assistant I will',
      'Bash error 1',
      'user look',
      '(compaction)',
      '(compaction)',
      '(summary)',
      'Read interrupted',
    ],
  ]);
  expect(bench.log.events.filter(({ agent_id }) => agent_id === 'a1')).toHaveLength(1);
  const fork = transcript('s2', [
    row('v1', { sessionId: 's2', type: 'user', message: { role: 'user', content: 'on' } }),
  ]);
  bench.file('s2.jsonl', jsonl(fork));
  expect((await bench.run()).formats['claude-code']).toMatchObject({ events: 2, messages: 1, tool_calls: 0 });
  mkdirSync(bench.home.traces, { recursive: true });
  writeFileSync(traceFile(bench.home, 'live'), '');
  const own = transcript('live').map((one) => ({ ...one, uuid: `l${Math.random()}` }));
  bench.file('live.jsonl', jsonl(own));
  expect((await bench.run()).formats['claude-code']).toMatchObject({ captured: 3, events: 0 });
  expect(bench.log.events.every(({ session_id }) => session_id.startsWith('import:claude-code:'))).toBe(true);
});

test('an imported session that was given out again is imported already, not captured', async () => {
  bench.file('s1.jsonl', jsonl(transcript()));
  await bench.run();
  const events = bench.log.events.length;
  const path = bench.file('s1.atif.json', JSON.stringify(toAtif(bench.log.events)));
  const { formats } = await bench.run(path);
  expect(formats.atif).toMatchObject({ captured: 0, refused: 0, events: 0 });
  expect(formats.atif?.already).toBe(formats.atif?.read);
  expect(bench.log.events).toHaveLength(events);
});

test('chat messages say which session they were given out of: one of here, a subagent of it, or none that is here', async () => {
  const row = { uuid: 'u5', sessionId: 's1', isSidechain: true, agentId: 'a1', type: 'user' };
  bench.file('s1.jsonl', jsonl(transcript('s1', [{ ...row, message: { role: 'user', content: 'look' } }])));
  await bench.run();
  const imported = [...bench.log.events];
  const live = imported.map((event) => ({ ...event, session_id: 'live' }));
  writeFileSync(traceFile(bench.home, 'live'), '');
  const chats = [...toOpenAi(imported), ...toOpenAi(live)];
  expect(chats.map(({ metadata }) => metadata)).toMatchObject([
    {},
    { agent_id: 'a1' },
    {},
    { agent_id: 'a1' },
  ]);
  const path = bench.file('chats.jsonl', jsonl(chats));
  const { formats } = await bench.run(path);
  // of each the conversation, two messages and a call (told by its result); of the subagent its prompt
  expect(formats.openai).toMatchObject({ sessions: 0, events: 0, already: 6, captured: 6, refused: 0 });
  const elsewhere = importBench();
  elsewhere.file('chats.jsonl', jsonl(chats));
  expect((await elsewhere.run()).formats.openai).toMatchObject({ sessions: 4, refused: 0 });
  const begun = elsewhere.log.events.filter(({ type }) => type === 'session_start');
  elsewhere.remove();
  expect(begun.map((one) => [one.original_id, one.parent_session_id])).toEqual([
    ['import:claude-code:s1', null],
    ['import:claude-code:s1.a1', 'import:claude-code:s1'],
    ['live', null],
    ['live.a1', 'live'],
  ]);
});

test('a transcript that has grown brings what is new, and a call that came to its end', async () => {
  const all = transcript();
  await importTwice(bench, 's1.jsonl', jsonl(all.slice(0, 3)));
  bench.file('s1.jsonl', jsonl(all));
  await bench.run();
  expect(toldTo(bench)).toEqual(['user do it', 'assistant I will', 'Bash interrupted', 'Bash error 1']);
  expect(bench.log.events.map(({ seq }) => seq)).toEqual(bench.log.events.map((_, at) => at));
});

test('a subagent of a session that was captured live was captured within it; a fork was not', async () => {
  mkdirSync(bench.home.traces, { recursive: true });
  for (const id of ['root', 'ses_root', 'g_root']) writeFileSync(traceFile(bench.home, id), '');
  const rollout = (meta: object) =>
    jsonl([
      { timestamp: '2026-01-01T00:00:00.000Z', type: 'session_meta', payload: meta },
      {
        ...{ timestamp: '2026-01-01T00:00:01.000Z', type: 'response_item' },
        payload: { type: 'message', role: 'user', content: JSON.stringify(meta) },
      },
    ]);
  const exported = (id: string, parentID: string) => ({
    info: { id, parentID, time: { created: 1773867525000 } },
    messages: [
      { info: { id: `m ${id}`, role: 'user' }, parts: [{ id: `p ${id}`, type: 'text', text: 'look' }] },
    ],
  });
  bench.file('a.jsonl', rollout({ id: 'child', session_id: 'root', parent_thread_id: 'root' }));
  bench.file('b.jsonl', rollout({ id: 'grandchild', session_id: 'root', parent_thread_id: 'child' }));
  bench.file('c.jsonl', rollout({ id: 'fork', session_id: 'fork', forked_from_id: 'root' }));
  bench.file('d.json', JSON.stringify(exported('ses_child', 'ses_root'), null, 1));
  bench.file('e.json', JSON.stringify(exported('ses_grandchild', 'ses_child'), null, 1));
  bench.file('f.json', JSON.stringify(exported('ses_other', 'ses_unknown'), null, 1));
  const meta = { sessionId: 'g_child', projectHash: 'h', kind: 'subagent' };
  bench.file('chats/g_root/g_child.jsonl', jsonl([meta, { id: 'x', type: 'user', content: 'look' }]));
  const report = await bench.run();
  expect(report.reasons).toEqual({});
  expect(new Set(bench.log.events.map(({ original_id }) => original_id).filter(Boolean))).toEqual(
    new Set(['fork', 'ses_other']),
  );
  expect(report.formats).toMatchObject({
    codex: { captured: 4, sessions: 1 },
    opencode: { captured: 4, sessions: 1 },
    gemini: { captured: 2, sessions: 0 },
  });
});
