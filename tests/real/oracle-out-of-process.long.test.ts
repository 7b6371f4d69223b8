/** The worked example of tests that never load the code, examples/out-of-process: a command line, a file in and a file out. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { gradeDiff } from '../../oracle/grade-diff.ts';
import { containerRunner } from '../../oracle/runner/container.ts';
import { taskAdd } from '../../oracle/tasks/add.ts';
import { taskCheck } from '../../oracle/tasks/check.ts';
import { knownTask } from '../../oracle/tasks/store.ts';
import { makeOracle, runGit, temporaryDirectory } from '../../oracle/testing.ts';
import { ORACLE_HOST } from '../support/container-task.ts';
import { noContainers, testImage } from '../support/docker-image.ts';

const EXAMPLE = new URL('../../examples/out-of-process/', import.meta.url).pathname;
const TASK = 'example-out-of-process';
const skipped = await noContainers();

function example(image: string | null): { dir: string; repository: string } {
  const dir = temporaryDirectory();
  cpSync(EXAMPLE, dir, { recursive: true });
  const repository = join(dir, 'repo');
  runGit(repository, 'init', '--quiet');
  runGit(repository, 'add', '--all');
  runGit(repository, 'commit', '--quiet', '--message', 'base');
  const path = join(dir, 'task.json');
  const task: unknown = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify(Object.assign({}, task, { image })));
  return { dir, repository };
}

describe.skipIf(skipped !== null)('tests apart from the code', () => {
  test('the example: ready, PASS with its fix; the wrong one, and code that ends every process it is in, FAIL', async () => {
    const { dir, repository } = example(await testImage());
    const oracle = makeOracle({ runner: containerRunner({ oracleHost: ORACLE_HOST }) });
    await taskAdd(oracle, dir);
    const { row, failure } = await taskCheck(oracle, TASK);
    expect(row, failure).toMatchObject({ status: 'ready', reason: null, suite_excluded: 0 });
    const grade = async (diff: Buffer) => {
      const { code, reason } = await gradeDiff(oracle, knownTask(oracle, TASK), { kind: 'by_hand', diff });
      return { code, reason };
    };
    const fix = readFileSync(join(dir, 'fix.patch'));
    expect(await grade(fix)).toMatchObject({ code: 'PASS' });
    expect(await grade(readFileSync(join(dir, 'wrong.patch')))).toMatchObject({ code: 'FAIL' });
    runGit(repository, 'apply', '--whitespace=nowarn', join(dir, 'wrong.patch'));
    const source = join(repository, 'src/ledger.py');
    const cheat = 'import os\nif os.path.exists("/tmp/calls"):\n    os._exit(0)\n';
    writeFileSync(source, `${cheat}${readFileSync(source, 'utf8')}`);
    const reason = 'hidden 1 tests/test_report.py::test_an_account_is_added_up failed';
    expect(await grade(Buffer.from(runGit(repository, 'diff', '--full-index')))).toEqual({
      code: 'FAIL',
      reason,
    });
  });
});
