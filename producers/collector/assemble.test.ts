import { expect, test } from 'vitest';
import { sha256 } from '../../schemas/hash.ts';
import { closeQuiet } from './assemble.ts';
import { assembleAll, entry, gist, T0, told } from './testing.ts';

const list = (...entries: Parameters<typeof assembleAll>[0][number][]) =>
  assembleAll(entries).events.map(gist);

test('a call becomes a notice when it starts and one event when it is whole: how it ended, and what the model saw', () => {
  const { events } = assembleAll([
    entry(told.callStarted('t1')),
    entry(told.callEnded('t1', 'error')),
    entry(told.batch('t1')),
  ]);
  expect(events.map(gist)).toEqual(['notice call_started t1', 'tool_call t1 error seen t1']);
  expect(events[1]?.content).toMatchObject({
    input: { text: '{"of":"t1"}' },
    result: { text: '{"result":"t1"}' },
  });
});

test('the batch may be heard before the end of its calls', () => {
  expect(list(entry(told.batch('t1')), entry(told.callEnded('t1')))).toEqual(['tool_call t1 ok seen t1']);
});

test('C5 a call without its batch is told all the same, at the next batch, Stop or prompt', () => {
  expect(list(entry(told.callEnded('t1')), entry(told.batch('t2')), entry(told.callEnded('t2')))).toEqual([
    'tool_call t1 ok',
    'tool_call t2 ok seen t2',
  ]);
  expect(list(entry(told.callEnded('t1')), entry(told.stop()))[0]).toBe('tool_call t1 ok');
  expect(list(entry(told.callEnded('t1')), entry(told.prompt('go on')))[0]).toBe('tool_call t1 ok');
});

test('C5 a call that never ran is told by what the model was shown, before the Stop that follows', () => {
  const denied = told.batch('t1', 't2').map((draft) => ({
    ...draft,
    fields: { ...draft.fields, ...(draft.own_id === 't1' ? { status: 'denied' } : {}) },
  }));
  expect(list(entry(told.callStarted('t1')), entry(denied), entry(told.stop()), entry(told.end()))).toEqual([
    'notice call_started t1',
    'tool_call t1 denied seen t1',
    'tool_call t2 error seen t2',
    'notice stop',
    'session_end ungraded',
  ]);
});

test('what the model saw of a call that was told already is a notice', () => {
  const late = list(
    entry(told.callEnded('t1')),
    entry(told.stop()),
    entry(told.batch('t1')),
    entry(told.batch('t1')),
  );
  expect(late).toEqual(['tool_call t1 ok', 'notice stop', 'notice call_seen t1 seen t1']);
});

test('a call that never ended is interrupted at the next prompt; its real end is still told', () => {
  const { events } = assembleAll([
    entry(told.callStarted('t1')),
    entry(told.stop()),
    entry(told.prompt('again')),
    entry(told.callEnded('t1')),
    entry(told.batch('t1')),
  ]);
  expect(events.map(gist)).toEqual([
    'notice call_started t1',
    'notice stop',
    'tool_call t1 interrupted',
    'message again',
    'tool_call t1 ok seen t1',
  ]);
  expect(events.map((event) => event.synthetic)).toEqual([false, false, true, false, false]);
});

test('C4 a prompt that is heard twice interrupts nothing that began in between, and counts once', () => {
  const prompt = () => entry(told.prompt('go'), { payload: 'p' });
  const { events, state } = assembleAll([
    prompt(),
    entry(told.callStarted('t1')),
    { ...prompt(), registration: 'plugin' },
    entry(told.callEnded('t1')),
    entry(told.batch('t1')),
  ]);
  expect(events.map(gist)).toEqual(['message go', 'notice call_started t1', 'tool_call t1 ok seen t1']);
  expect(state.core.turn).toBe(1);
});

test('the same payload twice within one registration is two events', () => {
  const again = () => entry(told.notice('notification'), { payload: 'same' });
  expect(list(again(), again())).toHaveLength(2);
  expect(list(again(), { ...again(), registration: 'plugin' })).toHaveLength(1);
});

test('C6 subagents: their end is not the session’s, their calls are theirs, their prompt interrupts nothing', () => {
  const { events, state } = assembleAll([
    entry(told.callStarted('agent', 'Agent')),
    entry(told.callStarted('sub1'), { agent_id: 'a1' }),
    entry(told.callEnded('sub1'), { agent_id: 'a1' }),
    entry(told.callStarted('sub2'), { agent_id: 'a1' }),
    entry(told.end(), { agent_id: 'a1' }),
    entry(told.stop(), { agent_id: 'a1', harness_event: 'SubagentStop' }),
    entry(told.callEnded('agent')),
    entry(told.batch('agent')),
  ]);
  expect(events.map(gist)).toEqual([
    'notice call_started agent',
    'notice call_started sub1 a1',
    'notice call_started sub2 a1',
    'notice subagent_end a1',
    'tool_call sub1 ok a1',
    'tool_call sub2 interrupted a1',
    'notice stop a1',
    'tool_call agent ok seen agent',
  ]);
  expect(state.core.ended).toBe(false);
  expect(
    events.filter((event) => event.agent_id === 'a1').map((event) => event.fields.parent_tool_use_id),
  ).toEqual(Array(6).fill('agent'));
});

test('a background agent goes on while its session stops and is prompted', () => {
  const events = list(
    entry(told.callStarted('bg'), { agent_id: 'a1' }),
    entry(told.stop()),
    entry(told.prompt('meanwhile')),
    entry(told.callEnded('bg'), { agent_id: 'a1' }),
    entry(told.batch('bg'), { agent_id: 'a1' }),
    entry(told.end()),
  );
  expect(events.at(-2)).toBe('tool_call bg ok seen bg a1');
  expect(events).not.toContain('tool_call bg interrupted a1');
});

test('who started a subagent is said only where it is certain', () => {
  const { events } = assembleAll([
    entry(told.callStarted('x', 'Agent')),
    entry(told.callStarted('y', 'Agent')),
    entry(told.callStarted('sub'), { agent_id: 'a1' }),
  ]);
  expect(events[2]?.fields.parent_tool_use_id).toBeUndefined();
});

test('C11 compaction hides nothing: it is an event among the others', () => {
  const events = list(
    entry(told.prompt('one')),
    entry(told.notice('compaction')),
    entry(told.start({ source: 'compact' })),
    entry(told.prompt('two')),
  );
  expect(events).toEqual(['message one', 'notice compaction', 'session_start', 'message two']);
});

test('C2 a resumed session has one more start; what its first start said of task and base stays', () => {
  const { events, state } = assembleAll([
    entry(told.start({ task_id: 'a', base_commit: 'b', _max_attempts: 3 })),
    entry(told.end()),
    entry(told.start({ source: 'resume', task_id: 'other', base_commit: 'c', _max_attempts: 20 })),
  ]);
  expect(events.map((event) => event.type)).toEqual(['session_start', 'session_end', 'session_start']);
  expect(state.core.facts).toMatchObject({ task_id: 'a', base_commit: 'b', max_attempts: 3 });
  expect(state.core.ended).toBe(false);
});

test('a session’s end tells what was open, then its outcome', () => {
  const events = list(
    entry(told.callStarted('t1')),
    entry(told.callEnded('t2')),
    entry(told.piece('m1', 0, 'half')),
    entry(told.end()),
  );
  expect(events).toEqual([
    'notice call_started t1',
    'tool_call t1 interrupted',
    'tool_call t2 ok',
    'message half',
    'session_end ungraded',
  ]);
});

test('C7 an error of the API ends the turn: what was open is told before it; on a task the session is aborted', () => {
  const error = () => entry(told.notice('api_failure'), { harness_event: 'StopFailure' });
  expect(list(entry(told.callEnded('t1')), error(), entry(told.batch('t1')))).toEqual([
    'tool_call t1 ok',
    'notice api_failure',
    'notice call_seen t1 seen t1',
  ]);
  const start = entry(told.start({ task_id: 't', _worktree: '/w', _base_matches: true }));
  expect(list(start, entry(told.prompt('go')), error(), entry(told.end())).at(-1)).toBe(
    'session_end aborted',
  );
});

test('C7 a silent session is closed as aborted, once, and opened again by what comes', () => {
  const before = assembleAll([entry(told.start({ task_id: 't' })), entry(told.callStarted('t1'))]);
  const context = {
    ...{ session_id: 's1', ordinal: 0, known: () => false, limit: 1000 },
    ...{ keyedHash: sha256, redact: (text: string) => ({ text, hits: 0 }) },
  };
  const at = { ts: new Date(T0).toISOString(), lastSeq: 1 };
  const closed = closeQuiet(before.state, context, at);
  expect(closed.events.map(gist)).toEqual(['tool_call t1 interrupted', 'session_end aborted']);
  expect(closed.events.every((event) => event.synthetic)).toBe(true);
  expect(closed.state.core.ended).toBe(true);
  expect(closeQuiet(closed.state, context, at).events).toEqual([]);
});
