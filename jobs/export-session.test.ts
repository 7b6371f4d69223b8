import { expect, test } from 'vitest';
import { blankEvent } from '../schemas/testing.ts';
import { byAgent, isPartial, outcome, said } from './export-session.ts';

const event = (fields: object) => ({ ...blankEvent(), session_id: 's', chain_id: 'c', ...fields });

test('a session is partial where content was there and is withheld', () => {
  const whole = event({ text_redacted: 'hi', text_digest: 'd' });
  const withheld = event({ text_digest: 'd', withheld: 'quarantined' });
  const empty = event({ withheld: 'quarantined' });
  expect(isPartial([whole, empty])).toBe(false);
  expect(isPartial([whole, withheld])).toBe(true);
});

test('what is withheld is said so, what never was is nothing', () => {
  expect([said(event({ text_redacted: 'hi', text_digest: 'd' })), said(event({}))]).toEqual(['hi', '']);
  expect(said(event({ text_digest: 'd' }))).toBe('[WITHHELD]');
  expect(outcome(event({}))).toBeNull();
  expect(outcome(event({ result_redacted: 'r', output_redacted: 'o' }))).toBe('o');
  expect(outcome(event({ result_digest: 'd' }))).toBe('[WITHHELD]');
});

test('by agent, the main one first; a call told as interrupted and then ended is told by its end', () => {
  const call = { type: 'tool_call', tool_use_id: 't' };
  const events = [
    event({ ...call, seq: 3, status: 'ok' }),
    event({ seq: 2, agent_id: 'sub', type: 'message' }),
    event({ ...call, seq: 1, status: 'interrupted' }),
    event({ seq: 0, type: 'session_start' }),
  ];
  expect(byAgent(events).map(({ agent_id, events }) => [agent_id, events.map(({ seq }) => seq)])).toEqual([
    [null, [0, 3]],
    ['sub', [2]],
  ]);
});

test('a call without an id that was interrupted is told beside others without one', () => {
  const call = (seq: number, status: string) => event({ type: 'tool_call', tool_use_id: null, seq, status });
  const [main] = byAgent([call(0, 'ok'), call(1, 'interrupted'), call(2, 'error')]);
  expect(main?.events.map(({ seq }) => seq)).toEqual([0, 1, 2]);
});

test('calls of two answers that share an id are two, however they came out', () => {
  const call = (seq: number, message_id: string | null, status: string | null) =>
    event({ type: 'tool_call', tool_use_id: 'call_0', seq, message_id, status });
  const kept = (...calls: ReturnType<typeof call>[]) =>
    byAgent(calls).flatMap(({ events }) => events.map(({ seq }) => seq));
  expect(kept(call(0, 'm1', null), call(1, 'm0', 'interrupted'))).toEqual([0, 1]);
  expect(kept(call(0, 'm1', null), call(1, 'm1', 'interrupted'))).toEqual([0]);
  expect(kept(call(0, null, null), call(1, 'm1', 'interrupted'))).toEqual([0]);
});
