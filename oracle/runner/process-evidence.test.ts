import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RUN_PATH } from '../environment.ts';
import { taskAdd } from '../tasks/add.ts';
import { taskCheck } from '../tasks/check.ts';
import { define, TaskFile } from '../tasks/definition.ts';
import { makeMirror } from '../tasks/mirror.ts';
import { makeOracle, makeRepository, taskDirectory, temporaryDirectory } from '../testing.ts';
import { outcomeOf } from './outcome.ts';
import { processRunner } from './process.ts';

const TOTAL = 'exports.total = () => 0;\n';
const change = (line: string) =>
  `diff --git a/src/calc.js b/src/calc.js\n--- a/src/calc.js\n+++ b/src/calc.js\n@@ -1 +1 @@\n-${TOTAL}+${line}\n`;
const HIDDEN = `const test = require('node:test');
const assert = require('node:assert');
const { total } = require('../src/calc.js');
test('total', () => assert.strictEqual(total([1, 2]), 3));
test('FLIPSTREAM_CANARY', () => assert.strictEqual(total([1, 2]), 4));
`;

test('O2 the process runner, too, wants every expected id to pass and every canary to fail', async () => {
  const dir = temporaryDirectory();
  const source = makeRepository({
    'src/calc.js': TOTAL,
    'test/calc.test.js': "require('node:test')('there', () => {});\n",
  });
  const file = TaskFile.parse({
    ...{ task_id: 't', mirror: source, base_commit: 'HEAD', allowlist: ['src/**'], timeout_s: 30 },
    ...{ framework: 'node:test', suite: 'test/calc.test.js', hidden: ['test/hidden.test.js'] },
  });
  const mirror = join(dir, 'mirror.git');
  const definition = define(file, await makeMirror(source, 'HEAD', mirror), '0'.repeat(32), null);
  const ids = { suite_ids: ['test/calc.test.js > there'], expected_ids: ['test/hidden.test.js > total'] };
  const hidden = [{ path: 'test/hidden.test.js', executable: false, content: Buffer.from(HIDDEN) }];
  const runner = processRunner({ prefix: join(dir, 'run-') });
  const grade = async (line: string | null, known = true) => {
    const diff = line === null ? null : Buffer.from(change(line));
    const job = { run_id: 'r', hidden, mirror, diff, definition: { ...definition, ...(known ? ids : {}) } };
    const result = await runner.run(job);
    return { ...outcomeOf(result), result };
  };
  const right = 'exports.total = (items) => items.reduce((a, b) => a + b, 0);';
  const learned = await grade(right, false);
  expect(learned).toMatchObject({ code: 'PASS', result: { evidence_fault: null } });
  expect(learned.result.hidden[0]?.tests).toEqual([{ id: ids.expected_ids[0], outcome: 'passed' }]);
  expect(await grade(right)).toMatchObject({ code: 'PASS' });
  expect(await grade(null)).toMatchObject({ code: 'FAIL', reason: `hidden 1 ${ids.expected_ids[0]} failed` });
  expect(await grade(`process.exit(0); ${right}`)).toMatchObject({ code: 'FAIL' });
  expect(await grade('exports.total = () => process.exit(0);')).toMatchObject({ code: 'FAIL' });
  const blind = "require('node:assert').strictEqual = () => {}; exports.total = () => 0;";
  expect(await grade(blind)).toMatchObject({ code: 'FAIL', reason: 'hidden 1 reported a canary as passed' });
});

/** What `cargo test` printed, Rust 1.95, for a hidden test of a function that is not there. */
const CARGO = `#!/bin/sh
case "$*" in *hidden*) ;; *) echo 'test tests::there ... ok'; exit 0 ;; esac
echo 'error[E0425]: cannot find function \`total\` in crate \`calc\`'
echo 'error: could not compile \`calc\` (test "hidden") due to 1 previous error' >&2
exit 101
`;

test('what a framework says on stdout alone is read by the check, and shown', async () => {
  const dir = temporaryDirectory();
  writeFileSync(join(dir, 'cargo'), CARGO, { mode: 0o755 });
  const runner = processRunner({ prefix: join(dir, 'run-'), path: `${dir}:${RUN_PATH}` });
  const oracle = makeOracle({ runner });
  const change = {
    framework: 'cargo',
    suite: ['--lib'],
    hidden: [['--test', 'hidden']],
    expected_ids: 'ids',
  };
  const task = taskDirectory(makeRepository(), change);
  writeFileSync(join(task, 'ids'), 'tests/hidden.rs::sums\n');
  await taskAdd(oracle, task);
  const { row, failure } = await taskCheck(oracle, 'demo-split-bill');
  expect(row.reason).toMatch(/code that does not compile/);
  expect(failure).toContain('error[E0425]');
});
