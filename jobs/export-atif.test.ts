import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Bench, importBench, jsonl, transcript } from '../producers/import/testing.ts';
import { trajectories } from '../producers/import/testing-atif.ts';
import type { TraceEvent } from '../schemas/generated.ts';
import { blankEvent } from '../schemas/testing.ts';
import { toAtif } from './export-atif.ts';
import { toClaudeJsonl, toOpenAi } from './export-chat.ts';

let bench: Bench;
beforeEach(() => {
  bench = importBench();
});
afterEach(() => bench.remove());

test.for(Object.entries(trajectories()))('ATIF comes out as it went in: %s', async ([name, trajectory]) => {
  bench.file(`${name}.json`, JSON.stringify(trajectory));
  const report = await bench.run();
  expect(report.reasons).toEqual({});
  expect(toAtif(bench.log.events)).toEqual(trajectory);
});

test('ATIF that has grown since it was imported comes out as it is now', async () => {
  const whole = trajectories()['1.7'] ?? {};
  const steps = Array.isArray(whole.steps) ? whole.steps : [];
  const begun = { ...whole, final_metrics: { total_steps: 3 }, steps: steps.slice(0, 3) };
  for (const trajectory of [begun, whole, whole]) {
    bench.file('a.json', JSON.stringify(trajectory));
    expect((await bench.run()).reasons).toEqual({});
  }
  expect(toAtif(bench.log.events)).toEqual(whole);
});

test('any session becomes ATIF 1.7, chat messages and a transcript that imports again', async () => {
  bench.file('a.jsonl', jsonl(transcript()));
  await bench.run();
  const events = [...bench.log.events];
  expect(toAtif(events)).toMatchObject({
    schema_version: 'ATIF-v1.7',
    agent: { name: 'claude-code', version: '2.1.332', model_name: 'x' },
    steps: [
      { step_id: 1, source: 'user', message: 'do it' },
      {
        ...{ step_id: 2, source: 'agent', message: 'I will' },
        tool_calls: [
          {
            tool_call_id: 't1',
            function_name: 'Bash',
            arguments: { command: 'false' },
            extra: { exit_code: 1 },
          },
        ],
        observation: { results: [{ source_call_id: 't1', content: 'Exit code 1\nno' }] },
      },
    ],
  });
  expect(toOpenAi(events)[0]?.messages).toEqual([
    { role: 'user', content: 'do it' },
    {
      ...{ role: 'assistant', content: 'I will' },
      tool_calls: [
        { id: 't1', type: 'function', function: { name: 'Bash', arguments: '{"command":"false"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 't1', content: 'Exit code 1\nno' },
  ]);
  // here it would be known as what was exported
  const elsewhere = importBench();
  elsewhere.file('b.jsonl', jsonl(toClaudeJsonl(events)));
  const again = await elsewhere.run();
  elsewhere.remove();
  expect(again.reasons).toEqual({});
  expect(again.formats['claude-code']).toMatchObject({ messages: 2, tool_calls: 1, failures: 1 });
});

test('a session has the same messages after it went through ATIF: calls alone are none', async () => {
  const lines = jsonl(transcript()).split('\n');
  const apart = lines.map((line) => (line.includes('"tool_use"') ? line.replace('"m1"', '"m2"') : line));
  bench.file('a.jsonl', apart.join('\n'));
  await bench.run();
  const out = toAtif(bench.log.events);
  expect(out).toMatchObject({ steps: [{}, { message: 'I will' }, { message: '', tool_calls: [{}] }] });
  const elsewhere = importBench();
  elsewhere.file('a.json', JSON.stringify(out));
  const { formats } = await elsewhere.run();
  const back = toAtif(elsewhere.log.events);
  elsewhere.remove();
  expect(formats.atif).toMatchObject({ messages: 2, tool_calls: 1, refused: 0 });
  expect(back).toEqual(out);
});

test('calls of a step whose own fields are withheld are no calls of the step before it', async () => {
  bench.file('a.json', JSON.stringify(trajectories()['1.4']));
  await bench.run();
  const withheld = bench.log.events.map((event) =>
    event.kind === 'agent' ? { ...event, input_redacted: null } : event,
  );
  const { steps } = toAtif(withheld);
  const calls = (Array.isArray(steps) ? steps : []).map(({ tool_calls: made = [] }) =>
    made.map(({ tool_call_id: id }: { tool_call_id: string }) => id),
  );
  expect(calls).toEqual([[], [], ['a', 'b'], ['c'], []]);
});

test('results of calls to which a harness gave no id stand with their own calls', () => {
  const call = (seq: number, output: string): TraceEvent => ({
    ...blankEvent(),
    ...{ session_id: 's', chain_id: 'c', seq, type: 'tool_call', tool_name: 'Bash', message_id: 'm' },
    output_redacted: output,
  });
  expect(toAtif([call(0, 'one'), call(1, 'two')])).toMatchObject({
    steps: [
      {
        tool_calls: [{ tool_call_id: 'call-1' }, { tool_call_id: 'call-2' }],
        observation: {
          results: [
            { source_call_id: 'call-1', content: 'one' },
            { source_call_id: 'call-2', content: 'two' },
          ],
        },
      },
    ],
  });
});
