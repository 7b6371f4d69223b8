import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Framework } from '../tasks/definition.ts';
import { temporaryDirectory } from '../testing.ts';
import { invocationOf, libraryOf, readerOf } from './invocation.ts';

const MODULES = new URL('../../node_modules', import.meta.url).pathname;

function place(framework: Framework) {
  const dir = temporaryDirectory();
  const [lib, tree, scratch] = [join(dir, 'lib'), join(dir, 'tree'), join(dir, 'scratch')];
  for (const path of [lib, tree, scratch]) mkdirSync(path);
  for (const [name, source] of Object.entries(libraryOf(framework))) writeFileSync(join(lib, name), source);
  return { lib, tree, scratch, report: join(scratch, 'report') };
}

function write(dir: string, path: string, content: string): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), content);
}

const TESTS = `import { describe, expect, test } from 'vitest';
test('right', () => expect(1).toBe(1));
describe('known', () => {
  test.fails('and fails', () => expect(1).toBe(2));
  test('by option', { fails: true }, () => expect(1).toBe(2));
  test.fails('and passes', () => expect(1).toBe(1));
});
`;

test('vitest: a test that is expected to fail, and does, has not passed', () => {
  const { tree, ...at } = place('vitest');
  symlinkSync(MODULES, join(tree, 'node_modules'));
  writeFileSync(join(tree, 'a.test.mjs'), TESTS);
  const { argv, env } = invocationOf('vitest', ['a.test.mjs'], at);
  const [program = '', ...args] = argv;
  const run = () =>
    execFileSync(program, args, { cwd: tree, env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' });
  expect(run).toThrow(/Command failed/);
  expect(readerOf('vitest')(readFileSync(at.report, 'utf8'), tree)).toEqual([
    { id: 'a.test.mjs > right', outcome: 'passed' },
    { id: 'a.test.mjs > known > and fails', outcome: 'xfailed' },
    { id: 'a.test.mjs > known > by option', outcome: 'xfailed' },
    { id: 'a.test.mjs > known > and passes', outcome: 'failed' },
  ]);
});

const NODE_TESTS = `import assert from 'node:assert';
import { describe, test } from 'node:test';
test('right', () => {});
describe('known', () => {
  test('and fails', { expectFailure: true }, () => assert.ok(false));
  test('for a reason', { expectFailure: 'bug 1' }, () => assert.ok(false));
  test('and passes', { expectFailure: true }, () => {});
  test('but skipped', { expectFailure: true, skip: true }, () => assert.ok(false));
});
`;

test('node:test: a test that is expected to fail, and does, has not passed', () => {
  const { tree, ...at } = place('node:test');
  write(tree, 'a.test.mjs', NODE_TESTS);
  const { argv, env } = invocationOf('node:test', ['a.test.mjs'], at);
  const [program = '', ...args] = argv;
  const { status } = spawnSync(program, args, { cwd: tree, env: { PATH: process.env.PATH, ...env } });
  expect(status).toBe(1);
  expect(readerOf('node:test')(readFileSync(at.report, 'utf8'), tree)).toEqual([
    { id: 'a.test.mjs > right', outcome: 'passed' },
    { id: 'a.test.mjs > known > and fails', outcome: 'xfailed' },
    { id: 'a.test.mjs > known > for a reason', outcome: 'xfailed' },
    { id: 'a.test.mjs > known > and passes', outcome: 'failed' },
    { id: 'a.test.mjs > known > but skipped', outcome: 'skipped' },
    { id: 'a.test.mjs > known', outcome: 'failed' },
  ]);
});

/** Stands for jest's packages: one test is told as it ends, and reported as jest-circus reports it. */
const CIRCUS = `module.exports = async (globalConfig, config, environment) => {
  const root = { name: 'ROOT_DESCRIBE_BLOCK' };
  const known = { name: 'known', parent: root };
  for (const test of [{ name: 'right', parent: root }, { name: 'fails', parent: known, failing: true }, { name: 'passes', parent: known, failing: true }])
    await environment.handleTestEvent({ name: 'test_done', test }, {});
  return { testResults: [
    { ancestorTitles: [], title: 'right', status: 'passed' },
    { ancestorTitles: ['known'], title: 'fails', status: 'passed' },
    { ancestorTitles: ['known'], title: 'passes', status: 'failed' },
  ] };
};
`;
const CALL = `const seen = [];
const environment = { handleTestEvent: async ({ test }) => seen.push(test.name) };
require(process.argv[1])({}, {}, environment)
  .then(({ testResults }) => console.log(JSON.stringify([seen, testResults.map(({ status }) => status)])));
`;

test('jest: a test that is expected to fail, and does, has not passed; its environment hears what it did', () => {
  const { lib, tree } = place('jest');
  for (const name of ['jest', '@jest/core', 'jest-config'])
    write(tree, `node_modules/${name}/package.json`, '{}');
  write(tree, 'node_modules/jest-circus/runner.js', CIRCUS);
  const args = ['-e', CALL, join(lib, 'jest-runner.cjs')];
  const printed = execFileSync(process.execPath, args, { cwd: tree, encoding: 'utf8' });
  expect(JSON.parse(printed)).toEqual([
    ['right', 'fails', 'passes'],
    ['passed', 'todo', 'failed'],
  ]);
});

const SHOW = 'console.log(process.argv.slice(2).join(" "));\n';

test.each([
  ['27.5.1', false],
  ['28.0.0', true],
  ['30.2.0', true],
])('jest %s is given a runner of ours: %s', (version, ours) => {
  const { lib, tree } = place('jest');
  write(tree, 'node_modules/jest/package.json', JSON.stringify({ bin: 'jest.js', version }));
  write(tree, 'node_modules/jest/jest.js', SHOW);
  const { argv } = invocationOf('jest', ['a.test.js'], { lib, report: '/r', scratch: '/s' });
  const args = argv.slice(argv.indexOf('node') + 1);
  const printed = execFileSync(process.execPath, args, { cwd: tree, encoding: 'utf8' });
  expect(printed.includes('--testRunner=')).toBe(ours);
});
