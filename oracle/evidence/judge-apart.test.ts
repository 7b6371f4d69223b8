import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { outcomeOf } from '../runner/outcome.ts';
import { planRun } from '../runner/phases.ts';
import { define, TaskFile } from '../tasks/definition.ts';
import { runResult, temporaryDirectory } from '../testing.ts';
import type { Evidence } from './judge.ts';
import { createJudge, type Judge } from './judge-apart.ts';

const WORD = 'Kfeed';
const lines = (...tests: [id: string, outcome: string][]) =>
  tests.map(([id, outcome]) => `${JSON.stringify({ id, outcome })}\n`).join('');
const GOOD = lines(['a', 'passed'], [`test_${WORD}_1`, 'failed']);
const RUN = runResult(0, 1);

function evidence(hidden: string): Evidence {
  const texts = { suite: GOOD, 'hidden 1': hidden };
  const reports = new Map(Object.entries(texts).map(([name, text]) => [name, { text, tree: '' }]));
  const { suite } = RUN;
  const ids = { suite_ids: ['a'], expected_ids: ['a'] };
  return { ...ids, framework: 'pytest', suite, hidden: RUN.hidden, reports, word: WORD, learns: false };
}

/** In a process that hangs, or ends, when it is given such a report. */
function judgeWith(slowCpuMs?: number): Judge {
  const dir = temporaryDirectory();
  const rules = new URL('./judge.ts', import.meta.url).href;
  const host = `import { existsSync, writeFileSync } from 'node:fs';
    import { judgeRun } from ${JSON.stringify(rules)};
    const before = ${JSON.stringify(join(dir, 'before'))};
    process.on('message', (evidence) => {
      const { text } = evidence.reports.get('hidden 1');
      while (text.startsWith('hangs'));
      if (text.startsWith('ends it')) process.exit(1);
      if (text.includes('ends one') && !existsSync(before)) {
        writeFileSync(before, '');
        process.exit(1);
      }
      process.send({ judged: judgeRun(evidence) });
    });
    process.send({ ready: true });`;
  writeFileSync(join(dir, 'host.mjs'), host);
  return createJudge(pathToFileURL(join(dir, 'host.mjs')), slowCpuMs);
}

const graded = async (judged: ReturnType<Judge>) => outcomeOf({ ...RUN, ...(await judged) });

const PASS = { code: 'PASS' };
const UNREADABLE = { code: 'FAIL', reason: 'suite left no report that can be read' };

test('while a report is read others are read, and whoever stops waits for none', async () => {
  const judge = judgeWith();
  const stop = new AbortController();
  const hanging = judge(evidence('hangs'), { signal: stop.signal, limitMs: 2 ** 31 - 1 });
  expect(await graded(judge(evidence(GOOD)))).toMatchObject(PASS);
  stop.abort(new Error('stopped'));
  await expect(hanging).rejects.toThrow('stopped');
});

test('a large report that is not read in time, or ends its reader, is none; the next is read all the same', async () => {
  const judge = judgeWith();
  const large = (text: string) => evidence(text.padEnd(2 ** 20 + 1));
  expect(await graded(judge(large('hangs'), { limitMs: 1 }))).toEqual(UNREADABLE);
  expect(await graded(judge(large('ends it')))).toEqual(UNREADABLE);
  expect(await graded(judge(evidence(GOOD)))).toMatchObject(PASS);
});

test('a small one that is not read was kept from it by the machine: no verdict', async () => {
  const judge = judgeWith();
  const unusable = { code: 'judge_unusable', kind: 'retryable' };
  await expect(judge(evidence('hangs'), { limitMs: 1 })).rejects.toMatchObject(unusable);
  await expect(judge(evidence('ends it'))).rejects.toMatchObject(unusable);
  expect(await graded(judge(evidence(GOOD)))).toMatchObject(PASS);
});

test('a small one that is late and took the processor for long was made to: none', async () => {
  expect(await graded(judgeWith(50)(evidence('hangs'), { limitMs: 2000 }))).toEqual(UNREADABLE);
});

test('a report that cannot be judged is none, and its reader goes on to the next', async () => {
  const judge = createJudge();
  // An id cannot be looked through for an expression: that throws.
  const thrown = Object.assign(evidence(GOOD), { word: /a/ });
  expect(await graded(judge(thrown))).toEqual(UNREADABLE);
  expect(await graded(judge(evidence(GOOD)))).toMatchObject(PASS);
});

test('a word that every object has, for an outcome, is no fault of the machine', async () => {
  for (const Action of ['constructor', '__proto__', 'nonsense']) {
    const text = JSON.stringify({ Action, Package: 'p', Test: 'a' });
    expect(await graded(createJudge()({ ...evidence(text), framework: 'go' }))).toMatchObject({
      code: 'FAIL',
    });
  }
});

test('the report of a large project, in the form that takes longest, is read', async () => {
  const tests = Array.from({ length: 10_000 }, (_, n) => `<testcase classname="pkg.Suite" name="t${n}"/>`);
  const canary = `<testcase name="test_${WORD}_1"><failure/></testcase>`;
  const report = `<testsuite>${tests.join('')}${canary}</testsuite>`;
  const ids = { suite_ids: ['pkg.Suite::t9999'], expected_ids: ['pkg.Suite::t9999'] };
  const reports = new Map(['suite', 'hidden 1'].map((name) => [name, { text: report, tree: '' }]));
  const given = { ...evidence(''), ...ids, framework: 'junit' as const, reports };
  expect(await graded(createJudge()(given))).toMatchObject(PASS);
});

test('a reader that somebody else ended is no fault of the report', async () => {
  const report = `${GOOD}${lines(['ends one', 'passed'])}`;
  expect(await graded(judgeWith()(evidence(report)))).toMatchObject(PASS);
});

test('a process that reads many reports, one after another, gathers no listeners', async () => {
  const warnings: string[] = [];
  const note = ({ message }: Error) => void warnings.push(message);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const judge = judgeWith();
  for (let n = 0; n < 12; n++) expect(await graded(judge(evidence(GOOD)))).toMatchObject(PASS);
  expect(warnings).toEqual([]);
});

test('one that cannot be started is a fault of the machine', async () => {
  const judge = createJudge(pathToFileURL(join(temporaryDirectory(), 'none.mjs')));
  await expect(judge(evidence(GOOD))).rejects.toMatchObject({ code: 'judge_unusable', kind: 'retryable' });
});

test('the plan of a run reads nothing by itself', async () => {
  const signal = AbortSignal.abort(new Error('stopped'));
  const file = TaskFile.parse({
    ...{ task_id: 't', mirror: '.', base_commit: 'HEAD', allowlist: ['**'] },
    ...{ framework: 'pytest', suite: 'tests', hidden: ['tests'] },
  });
  const definition = define(file, { base_commit: '0'.repeat(40), root_commits: [] }, '0'.repeat(32));
  const plan = planRun({ definition, hidden: [], signal });
  await expect(plan.judge(RUN, new Map())).rejects.toThrow('stopped');
});
