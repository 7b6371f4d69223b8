/** Issue 6, shown by 2: every real file imports with nothing refused, and SQL counts what Python counts. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { toAtif } from '../../jobs/export-atif.ts';
import { toOpenAi } from '../../jobs/export-chat.ts';
import type { Report } from '../../producers/import/counts.ts';
import { importPaths } from '../../producers/import/import.ts';
import { jsonReader } from '../../schemas/from-json.ts';
import { createPipeline, type Pipeline } from '../support/pipeline.ts';

const DATA = fileURLToPath(new URL('../../../shared/data/trajectories', import.meta.url));

const COUNT = `
import json, glob, os, re, sys
root = sys.argv[1]
def load(p): return json.load(open(p))
def add(c, m, t, f):
    c['messages'] += m; c['tool_calls'] += t; c['failures'] += f
FAIL = ('Your proposed edit has introduced new syntax error', 'Your bash command contained syntax errors and was NOT executed', 'EXECUTION TIMED OUT')
out = {}
c = out['swe-agent'] = dict(messages=0, tool_calls=0, failures=0)
for p in glob.glob(root + '/swe-*/*.traj'):
    d = load(p)
    for h in d['history']:
        if h['role'] == 'assistant': break
        if h['role'] == 'user' and not h.get('is_demo'): add(c, 1, 0, 0)
    for s in d['trajectory']:
        o = s['observation'] or ''
        stopped = re.match(r'The command .*? was cancelled because it took more than', o, re.S)
        add(c, bool((s['response'] or s['thought'] or '').strip()), bool(s['action'].strip()), o.startswith(FAIL) or bool(stopped))
c = out['mini-swe-agent'] = dict(messages=0, tool_calls=0, failures=0)
for p in glob.glob(root + '/mini-swe-agent/*.json'):
    d = load(p); called = False
    for m in d:
        if m['role'] == 'assistant':
            called = '\`\`\`mswea_bash_command' in m['content']; add(c, 1, called, 0)
        elif m['role'] == 'user':
            code = re.match(r'<returncode>(-?\\d+)</returncode>', m['content'])
            add(c, not called, 0, bool(code) and code.group(1) != '0'); called = False
c = out['claude-code'] = dict(messages=0, tool_calls=0, failures=0)
for p in glob.glob(root + '/claude-code/*.jsonl'):
    for line in open(p):
        r = json.loads(line)
        content = r['message']['content']
        if r.get('isMeta'): continue
        if isinstance(content, str): add(c, 1, 0, 0); continue
        for b in content:
            if b['type'] == 'text': add(c, 1, 0, 0)
            if b['type'] == 'tool_result': add(c, 0, 1, bool(b.get('is_error')))
print(json.dumps(out))
`;

const Counts = z.record(
  z.string(),
  z.object({ messages: z.number(), tool_calls: z.number(), failures: z.number() }),
);

const run = (pipeline: Pipeline) =>
  importPaths({
    paths: [DATA],
    home: pipeline.home,
    log: pipeline.log,
    clock: Date.now,
    limit: 1024 * 1024,
    warn: () => {},
  });

let pipeline: Pipeline;
let report: Report;
beforeAll(async () => {
  if (!existsSync(DATA)) return;
  pipeline = await createPipeline();
  pipeline.startStreams();
  await pipeline.startSink();
  report = await run(pipeline);
  await pipeline.settled();
});
afterAll(() => pipeline?.close());

const here = test.skipIf(!existsSync(DATA));

here('every file imports, nothing is refused, and SQL counts what Python counts', async () => {
  expect(report.reasons).toEqual({});
  const python = spawnSync('python3', ['-c', COUNT, DATA], { encoding: 'utf8' });
  expect(python.stderr).toBe('');
  const expected = Counts.parse(JSON.parse(python.stdout));
  const rows = await pipeline.sql(`
    SELECT split_part(session_id, ':', 2) AS format, count(*) FILTER (type = 'message') AS messages,
      count(*) FILTER (type = 'tool_call') AS tool_calls,
      count(*) FILTER (type = 'tool_call' AND status IN ('error', 'denied', 'interrupted')) AS failures
    FROM events GROUP BY 1`);
  const found = Object.fromEntries(
    rows.map(({ format, messages, tool_calls, failures }) => [
      String(format),
      { messages: Number(messages), tool_calls: Number(tool_calls), failures: Number(failures) },
    ]),
  );
  expect(found).toEqual(expected);
});

here(
  'every imported chain is whole, marked, unusable and unsigned; resolved is what the reports say',
  async () => {
    const sessions = await pipeline.sql('SELECT * FROM sessions');
    expect(sessions).toHaveLength(10);
    for (const session of sessions) {
      expect(session).toMatchObject({
        capture: 'imported',
        usable: false,
        verdict_id: null,
        ended: true,
        outcome: 'no_task',
      });
      expect(session.marks).toContain('imported');
      await pipeline.unbroken(String(session.session_id));
    }
    const labels = await pipeline.sql(
      `SELECT original_id, verdict, reason FROM events WHERE kind = 'evaluation_report' ORDER BY original_id`,
    );
    expect(labels).toEqual([
      { original_id: 'pandas-dev__pandas.95280573.pr_53856', verdict: 'FAIL', reason: 'unresolved' },
      { original_id: 'pydantic__pydantic.acb0f10f.pr_8316', verdict: 'PASS', reason: 'resolved' },
    ]);
  },
);

here('twice gives nothing new', async () => {
  const again = await run(pipeline);
  for (const counts of Object.values(again.formats))
    expect(counts).toMatchObject({ events: 0, mapped: 0, notices: 0 });
});

here('every session comes out as ATIF with its messages and calls', async () => {
  const read = jsonReader('TraceEvent');
  const ids = await pipeline.sql('SELECT session_id, messages, tool_calls FROM sessions');
  const Step = z.looseObject({
    source: z.string(),
    message: z.string(),
    tool_calls: z.array(z.unknown()).optional(),
  });
  const Trajectory = z.looseObject({
    steps: z.array(Step),
    subagent_trajectories: z.array(z.looseObject({ steps: z.array(Step) })).optional(),
  });
  for (const { session_id, tool_calls } of ids) {
    const events = await pipeline.sql(`SELECT * FROM events WHERE session_id = '${session_id}'`);
    const { steps, subagent_trajectories: inner = [] } = Trajectory.parse(toAtif(events.map(read)));
    const all = [steps, ...inner.map((one) => one.steps)].flat();
    expect(all.reduce((sum, step) => sum + (step.tool_calls?.length ?? 0), 0)).toBe(Number(tool_calls));
  }
});

const ANSWERS = `
import json, glob, sys
out = {}
for p in glob.glob(sys.argv[1] + '/claude-code/*.jsonl'):
    for line in open(p):
        r = json.loads(line); m = r.get('message') or {}
        if not isinstance(m.get('content'), list): continue
        for b in m['content']:
            if b['type'] == 'tool_use': out.setdefault(r['sessionId'], {}).setdefault(m['id'], []).append(b['id'])
print(json.dumps({s: sorted(map(sorted, answers.values())) for s, answers in out.items()}))
`;

here('calls of one answer of the model come out together, calls of two apart', async () => {
  const python = spawnSync('python3', ['-c', ANSWERS, DATA], { encoding: 'utf8' });
  expect(python.stderr).toBe('');
  const expected = z.record(z.string(), z.array(z.array(z.string()))).parse(JSON.parse(python.stdout));
  const read = jsonReader('TraceEvent');
  const Chat = z.array(
    z.object({
      messages: z.array(z.object({ tool_calls: z.array(z.object({ id: z.string() })).optional() })),
    }),
  );
  const found: typeof expected = {};
  for (const id of Object.keys(expected)) {
    const events = await pipeline.sql(`SELECT * FROM events WHERE original_id = '${id}'`);
    const messages = Chat.parse(toOpenAi(events.map(read))).flatMap((chat) => chat.messages);
    const calls = messages.flatMap((one) =>
      one.tool_calls ? [one.tool_calls.map((call) => call.id).sort()] : [],
    );
    found[id] = calls.sort((a, b) => (String(a) < String(b) ? -1 : 1));
  }
  const sorted = Object.entries(expected).map(([id, calls]) => [
    id,
    calls.sort((a, b) => (String(a) < String(b) ? -1 : 1)),
  ]);
  expect(found).toEqual(Object.fromEntries(sorted));
});
