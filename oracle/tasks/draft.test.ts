import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fakeRunner, makeOracle, makeRepository, runGit, temporaryDirectory } from '../testing.ts';
import { taskAdd } from './add.ts';
import { draftTask, writeDraft } from './draft.ts';
import { exportTask } from './export.ts';
import { knownTask } from './store.ts';

function repositoryWithFix(): string {
  const repository = makeRepository({
    'pkg/bill.py': 'def share(a, n):\n    return [a // n] * n\n',
    'tests/test_bill.py': 'def test_old():\n    pass\n',
    'pyproject.toml': '[project]\nname = "bill"\n',
    'CHANGES.md': '# Changes\n',
  });
  writeFileSync(
    join(repository, 'pkg/bill.py'),
    'def share(a, n):\n    return [a // n + (i < a % n) for i in range(n)]\n',
  );
  writeFileSync(
    join(repository, 'tests/test_bill.py'),
    'def test_old():\n    pass\n\ndef test_rest():\n    pass\n',
  );
  mkdirSync(join(repository, 'tests/data'));
  writeFileSync(join(repository, 'tests/data/bills.json'), '[]');
  writeFileSync(join(repository, 'pyproject.toml'), '[project]\nname = "bill"\nversion = "2"\n');
  writeFileSync(join(repository, 'CHANGES.md'), '# Changes\n\nThe rest is shared.\n');
  runGit(repository, 'add', '--all');
  runGit(repository, 'commit', '--quiet', '--message', 'fix the rest');
  return repository;
}

test('a fix commit becomes hidden tests and a reference, and can be added as it is', async () => {
  const repository = repositoryWithFix();
  const draft = await draftTask('bill', { repository, fix: 'HEAD' });
  expect(draft.file).toMatchObject({
    ...{ framework: 'pytest', suite: ['tests'], hidden: [['tests/test_bill.py']], allowlist: ['pkg/**'] },
    base_commit: runGit(repository, 'rev-parse', 'HEAD^').trim(),
  });
  expect(draft.hidden.map(({ path }) => path)).toEqual(['tests/data/bills.json', 'tests/test_bill.py']);
  const reference = draft.reference?.toString() ?? '';
  expect(reference).toContain('a // n + (i < a % n)');
  for (const left of ['CHANGES.md', 'pyproject.toml', 'test_bill']) expect(reference).not.toContain(left);
  expect(draft.remarks).toEqual([expect.stringMatching(/pyproject\.toml.*left out/)]);
  const dir = join(temporaryDirectory(), 'bill');
  writeDraft(dir, draft);
  const oracle = makeOracle({ runner: fakeRunner() });
  const row = await taskAdd(oracle, dir);
  expect(row).toMatchObject({ task_id: 'bill', status: 'unchecked' });
  expect(knownTask(oracle, 'bill').reference?.toString()).toBe(reference);
  expect(() => writeDraft(dir, draft)).toThrow(/is there already/);
});

test('tests that fail now become hidden; what is a guess is said', async () => {
  const repository = repositoryWithFix();
  const draft = await draftTask('bill', { repository, tests: ['tests/test_bill.py'] });
  expect(draft.hidden[0]?.content.toString()).toContain('test_rest');
  expect(draft.reference).toBeNull();
  expect(draft.remarks.join(' ')).toMatch(/allowlist is a guess.*no reference/);
});

test.each([
  ['a commit that is not there', { fix: 'nowhere' }, /no commit nowhere/],
  ['a commit without sources', { fix: 'HEAD' }, /no source/],
  ['a file that is not there', { tests: ['tests/none.py'] }, /no file in it/],
  ['a folder', { tests: ['tests'] }, /tests is no file in it/],
  ['a file outside', { tests: ['../x.py'] }, /no file in it/],
  ['no test among them', { tests: ['pkg/bill.py'] }, /no test file/],
])('no task can be made from %s', async (_, from, message) => {
  const repository = repositoryWithFix();
  writeFileSync(join(repository, 'README.md'), 'words');
  runGit(repository, 'add', '--all');
  runGit(repository, 'commit', '--quiet', '--message', 'words');
  const source = 'fix' in from ? { repository, fix: from.fix } : { repository, tests: from.tests };
  await expect(draftTask('x', source)).rejects.toMatchObject({
    code: 'draft_impossible',
    message: expect.stringMatching(message),
  });
});

test('an export holds nothing hidden', async () => {
  const repository = repositoryWithFix();
  const dir = join(temporaryDirectory(), 'bill');
  writeDraft(dir, await draftTask('bill', { repository, fix: 'HEAD' }));
  const oracle = makeOracle({ runner: fakeRunner() });
  await taskAdd(oracle, dir);
  const out = join(temporaryDirectory(), 'out');
  const files = await exportTask(oracle, 'bill', out);
  const text = files.map((file) => readFileSync(file, 'latin1')).join('\n');
  const { salt } = knownTask(oracle, 'bill').definition;
  for (const secret of ['test_rest', 'i < a % n', salt, '"hidden"']) expect(text).not.toContain(secret);
  runGit(out, 'clone', '--quiet', join(out, 'base.bundle'), join(out, 'clone'));
  expect(existsSync(join(out, 'clone/pkg/bill.py'))).toBe(true);
  await expect(exportTask(oracle, 'bill', out)).rejects.toMatchObject({ code: 'export_exists' });
});
