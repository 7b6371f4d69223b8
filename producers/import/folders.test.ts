/** Folders as harnesses leave them: sessions in several files, and what lies beside them. */
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Bench, importBench, toldTo } from './testing.ts';

let bench: Bench;
beforeEach(() => {
  bench = importBench();
});
afterEach(() => bench.remove());

const ID = '03d5b5c0-6890-4b43-831a-5b079d0e889e';

/** An event as OpenHands' SDK keeps it; the later ones have the older files, as after a copy. */
function event(index: number, kind: string, rest: object): void {
  const name = `event-${String(index).padStart(5, '0')}-${ID}.json`;
  const content = { id: `e${index}`, kind, timestamp: '2026-06-16T05:39:18.809928', ...rest };
  const path = bench.file(join('runs', 'c0ffee', 'events', name), JSON.stringify(content));
  utimesSync(path, 2_000_000_000 - index, 2_000_000_000 - index);
}

const called = (id: string, command: string) => ({
  ...{ tool_name: 'terminal', tool_call_id: id },
  ...{ thought: [{ type: 'text', text: 'try' }], action: { command } },
});
const observed = (id: string, exit_code: number) => ({
  ...{ tool_name: 'terminal', tool_call_id: id },
  observation: { content: [{ type: 'text', text: 'no' }], exit_code },
});

test('OpenHands’ SDK: a conversation of a file an event is one session, each call with its input, also as it grows', async () => {
  event(0, 'MessageEvent', { llm_message: { role: 'user', content: 'fix' } });
  event(1, 'ActionEvent', called('c1', 'false'));
  event(2, 'ObservationEvent', observed('c1', 1));
  event(3, 'ActionEvent', called('c2', 'true'));
  const report = await bench.run();
  expect(report.reasons).toEqual({});
  expect(report.formats).toMatchObject({ 'openhands-sdk': { files: 4, sessions: 1 } });
  const first = ['user fix', 'assistant try', 'terminal error 1', 'assistant try', 'terminal interrupted'];
  expect(toldTo(bench)).toEqual(first);
  event(4, 'ObservationEvent', observed('c2', 0));
  await bench.run();
  expect(toldTo(bench)).toEqual([...first, 'terminal ok 0']);
  await bench.run(join(bench.folder, 'runs', 'c0ffee', 'events'));
  expect(toldTo(bench)).toHaveLength(first.length + 1);
  const calls = bench.log.events.filter(({ type }) => type === 'tool_call');
  expect(calls.map(({ input_redacted }) => input_redacted)).toEqual([
    '{"command":"false"}',
    '{"command":"true"}',
    '{"command":"true"}',
  ]);
  expect(new Set(bench.log.events.map(({ session_id }) => session_id))).toEqual(
    new Set(['import:openhands-sdk:c0ffee']),
  );
});
