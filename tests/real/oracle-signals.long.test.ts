/** The worked example of soft oracles, examples/signals, on the real process runner: tsc, biome, esbuild and Node run. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { gradeDiff } from '../../oracle/grade-diff.ts';
import type { Oracle } from '../../oracle/oracle.ts';
import { taskAdd } from '../../oracle/tasks/add.ts';
import { taskCheck } from '../../oracle/tasks/check.ts';
import { knownTask } from '../../oracle/tasks/store.ts';
import { makeOracle, runGit, temporaryDirectory } from '../../oracle/testing.ts';

const EXAMPLE = new URL('../../examples/signals/', import.meta.url).pathname;
const TASK = 'example-signals';

async function example(): Promise<{ oracle: Oracle; repository: string }> {
  const dir = temporaryDirectory();
  cpSync(EXAMPLE, dir, { recursive: true });
  const repository = join(dir, 'repo');
  runGit(repository, 'init', '--quiet');
  runGit(repository, 'add', '--all');
  runGit(repository, 'commit', '--quiet', '--message', 'base');
  const oracle = makeOracle();
  await taskAdd(oracle, dir);
  expect((await taskCheck(oracle, TASK)).row).toMatchObject({ status: 'ready', reason: null });
  return { oracle, repository };
}

test('one of each kind: the right fix passes them, and each finds the damage that it is for', async () => {
  const { oracle, repository } = await example();
  const grade = async (edits: [file: string, from: string, to: string][]) => {
    const tree = mkdtempSync(join(tmpdir(), 'flipstream-signals-'));
    cpSync(repository, tree, { recursive: true });
    for (const [file, from, to] of edits) {
      const path = join(tree, file);
      writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
    }
    const diff = Buffer.from(runGit(tree, 'diff', '--full-index'));
    rmSync(tree, { recursive: true });
    const { code, signals } = await gradeDiff(oracle, knownTask(oracle, TASK), { kind: 'by_hand', diff });
    return [code, ...signals.filter(({ passed }) => passed !== true).map(({ name }) => name)];
  };
  const fix: [string, string, string] = ['src/ledger.js', 'sum = amount;', 'sum += amount;'];
  expect(await grade([fix])).toEqual(['PASS']);
  expect(await grade([fix, ['src/ledger.js', 'return sum;', 'return String(sum);']])).toContain('types');
  expect(await grade([fix, ['src/ledger.js', 'let sum = 0;', 'var sum = 0;\n  debugger;']])).toEqual([
    'PASS',
    'lint',
  ]);
  const special: [string, string, string] = [
    'src/ledger.js',
    'sum = amount;',
    'sum = amounts.length === 3 ? sum + amount : amount;',
  ];
  expect(await grade([special])).toEqual(['PASS', 'sums']);
  expect(await grade([fix, ['src/ledger.js', 'toFixed(2)', 'toFixed(2).replace(/^-/, "minus ")']])).toEqual([
    'PASS',
    'words',
  ]);
  expect(
    await grade([fix, ['migrations/1.down.sql', 'drop table entries;', 'delete from entries;']]),
  ).toEqual(['FAIL', 'round-trip']);
  expect(await grade([fix, ['src/ledger.js', 'let sum = 0;', 'let sum = ;']])).toEqual(
    expect.arrayContaining(['FAIL', 'build']),
  );
});
