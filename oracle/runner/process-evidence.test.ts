import { join } from 'node:path';
import { expect, test } from 'vitest';
import { define, TaskFile } from '../tasks/definition.ts';
import { makeMirror } from '../tasks/mirror.ts';
import { makeRepository, temporaryDirectory } from '../testing.ts';
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
