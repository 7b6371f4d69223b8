import fc from 'fast-check';
import { expect, test } from 'vitest';
import { STAMPED } from '../adapters/adapter.ts';
import { callEnded, callStarted } from '../adapters/telling.ts';
import type { Draft, SpoolEntry } from '../draft.ts';
import { assemble } from './assemble.ts';
import type { Proto } from './proto.ts';
import { newSession } from './session-state.ts';

interface Told {
  draft: Draft;
  payload: string;
  registration: string;
}

const content = (value: string) => ({
  text: value,
  hash: `hash of ${value}`,
  bytes: value.length,
  cut: false,
  hits: 0,
});

/** A payload of a harness that gives calls no id; `stamp` is the time in it. */
function told(what: 'start' | 'end', command: string, stamp: number | null, registration = 'settings'): Told {
  const call = { id: undefined, name: 'bash' };
  const { content: _, ...draft } =
    what === 'start' ? callStarted(call) : callEnded({ ...call, status: 'ok' });
  return {
    draft: { ...draft, content: { input: content(command) }, ...(stamp === null ? {} : { phase: STAMPED }) },
    payload: `${what} ${command} ${stamp}`,
    registration,
  };
}

/** What becomes of payloads, as the collector would have it, one after another. */
function play(all: readonly Told[]): Proto[] {
  const known = new Set<string>();
  const ordinals = new Map<string, number>();
  let state = newSession('gemini');
  return all.flatMap(({ draft, payload, registration }, at) => {
    const key = `${registration} ${payload}`;
    const ordinal = ordinals.get(key) ?? 0;
    ordinals.set(key, ordinal + 1);
    const entry: SpoolEntry = {
      ...{ v: 1, ts: `2026-01-01T00:00:00.${String(at).padStart(3, '0')}Z`, session_id: 's', agent_id: null },
      ...{ harness: 'gemini', harness_event: 'AfterTool', registration, transport: 'command' },
      ...{ payload_hash: payload, drafts: [draft] },
    };
    const done = assemble(state, entry, {
      ...{ session_id: 's', ordinal, known: (id) => known.has(id), keyedHash: (text) => text },
      ...{ redact: (text) => ({ text, hits: 0 }), limit: 1000 },
    });
    state = done.state;
    for (const id of [...done.absorbed, ...done.events.flatMap((one) => [one.event_id, ...one.also])])
      known.add(id);
    return done.events;
  });
}

const shape = (events: readonly Proto[]) => events.map(({ type, fields }) => [type, fields.tool_use_id]);

test('a start and its end are one call, told when it ends', () => {
  const [started, ended, ...more] = play([told('start', 'ls', 1), told('end', 'ls', 2)]);
  expect(more).toEqual([]);
  expect([started?.type, ended?.type]).toEqual(['notice', 'tool_call']);
  expect(ended?.fields.tool_use_id).toBe(started?.fields.tool_use_id);
  expect(ended?.content.input?.text).toBe('ls');
});

test('calls side by side go by their arguments; the same command twice is two calls', () => {
  const events = play([
    ...[told('start', 'a', 1), told('start', 'b', 2), told('end', 'b', 3), told('end', 'a', 4)],
    ...[told('start', 'a', 5), told('end', 'a', 6)],
  ]);
  const [a, b, endB, endA, again, endAgain] = shape(events);
  expect([endA?.[1], endB?.[1], endAgain?.[1]]).toEqual([a?.[1], b?.[1], again?.[1]]);
  expect(new Set([a?.[1], b?.[1], again?.[1]]).size).toBe(3);
});

test('without a time in the payload, the same command and result twice is still two calls', () => {
  const once = [told('start', 'ls', null), told('end', 'ls', null)];
  const events = play([...once, ...once]);
  expect(events.map(({ type }) => type)).toEqual(['notice', 'tool_call', 'notice', 'tool_call']);
  expect(new Set(events.map(({ fields }) => fields.tool_use_id)).size).toBe(2);
});

test('an end whose start was not heard is a call of its own', () => {
  expect(play([told('end', 'ls', 2)]).map(({ type }) => type)).toEqual(['tool_call']);
});

test('C4 whatever is told again, by another registration or by the same, is no news', () => {
  const payloads = fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.nat(3)), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(payloads, fc.boolean(), (calls, same) => {
      const all = calls.flatMap(([command], at) => [
        told('start', command, at * 2),
        told('end', command, at * 2 + 1),
      ]);
      const twice = all.flatMap((one) => [one, { ...one, registration: same ? 'settings' : 'plugin' }]);
      expect(shape(play(twice))).toEqual(shape(play(all)));
    }),
  );
});
