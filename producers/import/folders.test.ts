/** Folders as harnesses leave them: sessions in several files, and what lies beside them. */
import { rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Bench, importBench, jsonl, toldTo } from './testing.ts';

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

test('what harnesses keep beside their trajectories is passed over as what it is', async () => {
  const prediction = { model_name_or_path: 'm', instance_id: 'i', model_patch: 'diff' };
  const session = join('projects', '-w', ID);
  const files: Record<string, unknown> = {
    [join(session, 'subagents', 'agent-a1.meta.json')]: { agentType: 'Explore', description: 'look' },
    [join(session, 'tool-results', 'b1.json')]: [{ any: 'thing' }],
    [join('projects', '-w', 'sessions-index.json')]: { version: 1, entries: [] },
    [join('gemini', 'logs.json')]: [
      { sessionId: 'g', messageId: 0, type: 'user', message: 'fix', timestamp: '2026-01-01T00:00:00.000Z' },
    ],
    [join('gemini', 'checkpoint-a.json')]: { history: [{ role: 'user', parts: [] }] },
    [join('c0ffee', 'base_state.json')]: { id: ID, agent: {}, execution_status: 'idle' },
    [join('out', 'i', 'i.pred')]: prediction,
    [join('out', 'preds.json')]: { i: prediction },
    [join('out', 'results.json')]: { total_instances: 1, resolved_ids: ['i'] },
  };
  for (const [name, content] of Object.entries(files)) bench.file(name, JSON.stringify(content, null, 2));
  bench.file('all_preds.jsonl', jsonl([prediction, prediction]));
  bench.file('package.json', '{"name":"x"}');
  const report = await bench.run();
  expect(report.reasons).toEqual({ 'no format that is known': 1 });
  expect(report.refused.map(({ path }) => path)).toEqual([join(bench.folder, 'package.json')]);
  expect(report.sidecars).toEqual({
    'claude-code: what a subagent was begun as': 1,
    'claude-code: a long output of a tool': 1,
    'claude-code: an index of sessions': 1,
    'gemini: a list of prompts': 1,
    'gemini: a saved conversation': 1,
    'openhands-sdk: the state of a conversation': 1,
    'swe-agent, mini-swe-agent: predictions': 3,
    'swe-bench, swe-smith: a summary of evaluations': 1,
  });
  expect(bench.log.events).toEqual([]);
});

test('Shepherd: the manifest says of each scope who began it and what became of it', async () => {
  const line = (scope_id: string, timestamp: number) => ({
    effect: { effect_type: 'prompt_sent', user_prompt: 'fix', timestamp },
    ...{ sequence: 0, scope_id },
  });
  const scope = (scope_id: string, parent_scope_id: string | null, status: string) => ({
    ...{ scope_id, parent_scope_id, stream_file: `scope_${scope_id}.jsonl`, status, depth: 0, metadata: {} },
  });
  const manifest = (status: string) => ({
    ...{ version: '1.0', root_scope_id: 'root', created_at: '2026-11-30T07:00:00Z', metadata: { by: 'x' } },
    scopes: [scope('root', null, 'active'), scope('try', 'root', status), scope('idle', 'root', 'discarded')],
  });
  // it is read after the streams that it speaks of, whichever file is older
  for (const [folder, second] of Object.entries({ one: 1, two: 2 })) {
    bench.file(join(folder, 'manifest.json'), JSON.stringify(manifest('active'), null, 2));
    bench.file(join(folder, 'scope_root.jsonl'), jsonl([line('root', second)]));
    // it begins with the history of the scope that it was forked from
    bench.file(join(folder, 'scope_try.jsonl'), jsonl([line('root', second), line('try', second)]));
    bench.file(join(folder, 'scope_idle.jsonl'), '');
  }
  const stray = bench.file(join('three', 'manifest.json'), JSON.stringify(manifest('active')));
  const report = await bench.run();
  expect(report.reasons).toEqual({ 'a manifest of streams that were not imported': 1 });
  rmSync(stray);
  const scopes = () => bench.log.events.filter(({ kind }) => kind === 'scope');
  const root = 'import:shepherd:root-1';
  const tried = (second: number) =>
    scopes()
      .filter(({ session_id }) => session_id === `import:shepherd:scope_try-${second}`)
      .map(({ reason, parent_session_id }) => [reason, parent_session_id]);
  expect(tried(1)).toEqual([['active', root]]);
  expect(tried(2)).toEqual([['active', 'import:shepherd:root-2']]);
  expect(scopes().map(({ reason, session_id }) => `${reason} ${session_id}`)).toContain(`discarded ${root}`);
  expect(bench.log.events.find(({ kind }) => kind === 'manifest')?.input_redacted).toContain('"by":"x"');
  bench.file(join('one', 'manifest.json'), JSON.stringify(manifest('merged'), null, 2));
  const again = await bench.run();
  expect(again.reasons).toEqual({});
  expect(tried(1)).toEqual([
    ['active', root],
    ['merged', root],
  ]);
  expect(tried(2)).toHaveLength(1);
});
