/** Soft oracles in containers, with the base beside the diff where one compares. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { gradeDiff } from '../../oracle/grade-diff.ts';
import { containerRunner } from '../../oracle/runner/container.ts';
import { taskAdd } from '../../oracle/tasks/add.ts';
import { taskCheck } from '../../oracle/tasks/check.ts';
import { knownTask } from '../../oracle/tasks/store.ts';
import { makeOracle, makeRepository, runGit, taskDirectory } from '../../oracle/testing.ts';
import { ORACLE_HOST } from '../support/container-task.ts';
import { noContainers, testImage } from '../support/docker-image.ts';
import { ours } from '../support/shell-task.ts';
import { fixPython, PYTEST } from '../support/tasks-in-containers.ts';

const skipped = await noContainers();
const TASK = 'demo-split-bill';
const text = (files: object) =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [path, String(content)]));

const SIGNALS = [
  {
    name: 'parses',
    kind: 'lint',
    command: 'python3 -c "import ast; ast.parse(open(\'src/calc.py\').read())"',
  },
  {
    name: 'counts-alike',
    kind: 'differential',
    command: 'cd src && python3 -c "import calc; print(calc.count([1, 2]))"',
  },
  { name: 'short', kind: 'lint', command: 'test $(wc -l <src/calc.py) -lt 9', decides: true },
  { name: 'writes-nothing', kind: 'build', command: '! (echo x >out.txt) 2>/dev/null' },
];

describe.skipIf(skipped !== null)('soft oracles in containers', () => {
  afterEach(async () => expect(await ours()).toEqual([]));

  test('they are recorded for what they find, and decide where the task says so', async () => {
    const oracle = makeOracle({ runner: containerRunner({ oracleHost: ORACLE_HOST }) });
    const repository = makeRepository(text(PYTEST.files));
    const diffOf = (change: object) => {
      for (const [path, content] of Object.entries(text(change)))
        writeFileSync(join(repository, path), content);
      const diff = runGit(repository, 'diff', '--full-index');
      runGit(repository, 'checkout', '--quiet', '.');
      return diff;
    };
    const task = {
      ...{ framework: 'pytest', suite: ['tests'], hidden: [['tests/test_hidden.py']], timeout_s: 120 },
      ...{ runner: 'container', image: await testImage(), reference: 'fix.patch', allowlist: ['src/**'] },
      signals: SIGNALS,
    };
    const directory = taskDirectory(repository, task, PYTEST.hidden);
    writeFileSync(join(directory, 'fix.patch'), diffOf(fixPython()));
    await taskAdd(oracle, directory);
    const { row, failure } = await taskCheck(oracle, TASK);
    expect(row, failure).toMatchObject({ status: 'ready' });
    const grade = async (change: object) => {
      const diff = Buffer.from(diffOf(change));
      const { code, signals } = await gradeDiff(oracle, knownTask(oracle, TASK), { kind: 'by_hand', diff });
      return [code, ...signals.map(({ name, passed }) => `${name} ${passed}`)];
    };
    const all = (...not: string[]) => SIGNALS.map(({ name }) => `${name} ${!not.includes(name)}`);
    expect(await grade(fixPython())).toEqual(['PASS', ...all()]);
    expect(await grade(fixPython('', '# longer\n'.repeat(9)))).toEqual(['FAIL', ...all('short')]);
    const other = {
      'src/calc.py': 'total = sum\ncount = lambda items: len(items) if items != [1, 2] else 2.0\n',
    };
    expect(await grade(other)).toEqual([expect.any(String), ...all('counts-alike')]);
    expect(await grade({ 'src/calc.py': 'def\n' })).toEqual(['FAIL', ...all('parses', 'counts-alike')]);
  });
});
