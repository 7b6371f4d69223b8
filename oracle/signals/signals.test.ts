import { expect, test } from 'vitest';
import { drainOutbox } from '../outbox.ts';
import { answerOf, setUpDesk } from '../service/testing.ts';
import { taskAdd } from '../tasks/add.ts';
import { knownTask } from '../tasks/store.ts';
import {
  demoPatch,
  gradeRequest,
  makeOracle,
  makeRepository,
  phase,
  runResult,
  taskDirectory,
} from '../testing.ts';
import { runSignals } from './run-signals.ts';
import { listSignals } from './store.ts';

test('they are kept beside the verdict on the oracle\u2019s side, and no record that leaves it tells of them', async () => {
  const signals = [
    { name: 'quiet', kind: 'lint', command: 'true' },
    { name: 'strict', kind: 'build', command: 'false', decides: true },
  ];
  const set = await setUpDesk({
    task: { signals },
    judge: (job) =>
      job.definition.hidden[0] === 'true'
        ? runResult(0, 0, {
            hidden: [0, 1].map((at) => phase('hidden', job.diff?.includes('loose') ? at : 0)),
          })
        : runResult(0, job.diff?.includes('good') ? 0 : 1),
  });
  expect(await answerOf(set, gradeRequest(set.row, 'good'))).toBe('PASS');
  expect(await answerOf(set, gradeRequest(set.row, 'good loose', { session_id: 'b' }))).toBe('FAIL');
  expect(
    listSignals(set.oracle.db).map(({ session_id, name, passed, decides }) => [
      session_id,
      name,
      passed,
      decides,
    ]),
  ).toEqual([
    ['session', 'quiet', true, false],
    ['session', 'strict', true, true],
    ['b', 'quiet', true, false],
    ['b', 'strict', false, true],
  ]);
  await drainOutbox(set.oracle.db, set.log);
  expect(JSON.stringify(set.log.records)).not.toMatch(/quiet|strict/);
});

test('a verdict that is copied from another has what was said beside it', async () => {
  const set = await setUpDesk({
    task: { signals: [{ name: 'quiet', kind: 'lint', command: 'true' }] },
    judge: ({ diff, definition }) => runResult(0, diff === null && definition.hidden[0] !== 'true' ? 1 : 0),
  });
  for (const session_id of ['a', 'b'])
    expect(await answerOf(set, gradeRequest(set.row, 'good', { session_id }))).toBe('PASS');
  const [, copy] = (await set.verdicts()).filter(({ value }) => value.mode === 'grade');
  expect(copy?.value.cached_from).not.toBeNull();
  expect(listSignals(set.oracle.db)).toMatchObject(
    ['a', 'b'].map((session_id) => ({
      session_id,
      name: 'quiet',
      kind: 'lint',
      passed: true,
      decides: false,
    })),
  );
});

test.each([
  ['in_process', true],
  ['out_of_process', false],
])('%s: whether the hidden files are in the tree of a soft oracle: %s', async (evidence, seen) => {
  const oracle = makeOracle();
  const kinds = ['property', 'differential'];
  const signals = kinds.map((kind) => ({ name: kind, kind, command: 'find . | grep bill-rest' }));
  await taskAdd(oracle, taskDirectory(makeRepository(), { evidence, signals }));
  const task = knownTask(oracle, 'demo-split-bill');
  const said = await runSignals(oracle, task, { kind: 'signal', diff: demoPatch('fix') });
  expect(said.map(({ passed }) => passed)).toEqual([seen, seen]);
});
