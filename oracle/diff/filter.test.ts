import fc from 'fast-check';
import { expect, test } from 'vitest';
import { define, TaskFile } from '../tasks/definition.ts';
import { filterDiff, pathRule } from './filter.ts';
import { parseDiff } from './parse.ts';

const file = TaskFile.parse({
  task_id: 't',
  mirror: 'm',
  base_commit: 'HEAD',
  suite: 's',
  hidden: ['h'],
  allowlist: ['src/**', '*.py', 'lib/**'],
  denylist: ['src/generated/**'],
  shadow_names: ['requests'],
});
const rules = define(file, { base_commit: '0'.repeat(40), root_commits: ['r'] }, '0'.repeat(32));
const BASE = new Set(['src/a.py', 'src/app/__init__.py', 'src/app/types.py']);

const HASHES = 'index 0000000..1111111';
const edit = (path: string, to = path) =>
  `diff --git a/${path} b/${to}\n${HASHES} 100644\n--- a/${path}\n+++ b/${to}\n@@ -1 +1 @@\n-x\n+y\n`;
const add = (path: string, mode = '100644') =>
  `diff --git a/${path} b/${path}\nnew file mode ${mode}\n${HASHES}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+y\n`;
const remove = (path: string) =>
  `diff --git a/${path} b/${path}\ndeleted file mode 100644\n${HASHES}\n--- a/${path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n`;
const move = (from: string, to: string, how = 'rename') =>
  `diff --git a/${from} b/${to}\nsimilarity index 100%\n${how} from ${from}\n${how} to ${to}\n`;
const chmod = (path: string, from: string, to: string) =>
  `diff --git a/${path} b/${path}\nold mode ${from}\nnew mode ${to}\n`;
const BINARY = `diff --git a/src/x.bin b/src/x.bin\nnew file mode 100644\n${HASHES}\nGIT binary patch\nliteral 3\nKcmZQzWMT#Y0RjL7\n\nliteral 0\nHcmV?d00001\n\n`;

function filter(diff: string) {
  return filterDiff(Buffer.from(diff), rules, (path) => BASE.has(path));
}

const HONEST: [string, string][] = [
  ['an edit', edit('src/a.py')],
  ['a new file', add('src/deep/new.js')],
  ['a deletion', remove('src/a.py')],
  ['a rename inside', move('src/a.py', 'src/b.py')],
  ['a copy inside', move('src/a.py', 'src/b.py', 'copy')],
  ['an executable bit', chmod('src/a.py', '100644', '100755')],
  ['a binary file', BINARY],
  ['an empty new file', `diff --git a/src/e b/src/e\nnew file mode 100644\n${HASHES}\n`],
  [
    'a name with spaces',
    edit('src/a b.js')
      .replaceAll('/a b.js\n@@', '/a b.js\t\n@@')
      .replace('--- a/src/a b.js', '--- a/src/a b.js\t'),
  ],
  [
    'a quoted name',
    edit('X').replaceAll('a/X', '"a/src/\\303\\251.js"').replaceAll('b/X', '"b/src/\\303\\251.js"'),
  ],
  ['a module name inside a package', add('src/app/json.py')],
  ['a module name deep inside a package', add('src/app/util/json.py')],
  ['a directory that has a build file\u2019s name', add('src/build/a.js')],
  ['a package of its own', add('src/mine/__init__.py') + add('src/mine/types.py')],
  ['an edit of a module with such a name', edit('src/app/types.py')],
  ['no newline at the end', edit('src/a.py').replace('+y\n', '+y\n\\ No newline at end of file\n')],
];

test.each(HONEST)('kept: %s', (_, diff) => {
  const result = filter(diff);
  expect(result).toEqual({ kept: Buffer.from(diff), dropped: [] });
});

const DISHONEST: [string, string, string][] = [
  ['O1 an edited test', edit('src/test/a.js'), 'denied'],
  ['O1 a deleted test', remove('src/foo.test.js'), 'denied'],
  ['O1 an untracked conftest.py', add('src/conftest.py'), 'denied'],
  ['O1 a changed runner configuration', edit('src/pytest.ini'), 'denied'],
  ['sitecustomize', add('src/deep/sitecustomize.py'), 'denied'],
  ['sitecustomize as a package', add('src/sitecustomize/__init__.py'), 'denied'],
  ['a .pth file', add('src/evil.pth'), 'denied'],
  ['a manifest', edit('src/package.json'), 'denied'],
  ['a lockfile', edit('src/poetry.lock'), 'denied'],
  ['continuous integration', add('src/.github/workflows/x.yml'), 'denied'],
  ['another case of a denied name', add('src/ConfTest.py'), 'denied'],
  ['a file where a test directory was', add('src/tests'), 'denied'],
  ['the task\u2019s own list', edit('src/generated/a.js'), 'denied'],
  ['a path outside the allowlist', edit('docs/a.md'), 'not_allowed'],
  ['a rename out of the tests', move('tests/a.js', 'src/a.js'), 'denied'],
  ['a rename into the tests', move('src/a.py', 'tests/a.py'), 'denied'],
  ['a copy from a denied path', move('src/package.json', 'src/x.json', 'copy'), 'denied'],
  ['a new symlink', add('src/link', '120000'), 'symlink'],
  ['an edited symlink', edit('src/link').replace('100644', '120000'), 'symlink'],
  ['a file that becomes a symlink', chmod('src/a.py', '100644', '120000'), 'symlink'],
  ['a submodule', add('src/sub', '160000'), 'submodule'],
  ['a set-uid bit', chmod('src/a.py', '100644', '104755'), 'file_mode'],
  ['a way out of the tree', edit('src/../../etc/x'), 'odd_name'],
  ['an absolute name', edit('/etc/x'), 'odd_name'],
  ['git\u2019s own directory', add('src/.GIT/hooks/pre-commit'), 'odd_name'],
  [
    'a backslash',
    edit('X').replaceAll('a/X', '"a/src\\\\x.py"').replaceAll('b/X', '"b/src\\\\x.py"'),
    'odd_name',
  ],
  [
    'a name that is no UTF-8',
    edit('X').replaceAll('a/X', '"a/src/\\377"').replaceAll('b/X', '"b/src/\\377"'),
    'odd_name',
  ],
  [
    'a newline in the name',
    edit('X').replaceAll('a/X', '"a/src/\\nx"').replaceAll('b/X', '"b/src/\\nx"'),
    'odd_name',
  ],
  ['a runner\u2019s name', add('src/pytest.py'), 'shadows_module'],
  ['a standard module\u2019s name', add('json.py'), 'shadows_module'],
  ['a package of a runner\u2019s name', add('src/_pytest/__init__.py'), 'shadows_module'],
  ['an installed package\u2019s name', add('lib/requests.py'), 'shadows_module'],
];

test.each(DISHONEST)('dropped: %s', (_, diff, why) => {
  const honest = edit('src/a.py');
  const result = filter(diff + honest);
  expect(result).toMatchObject({ kept: Buffer.from(honest), dropped: [{ why }] });
});

const BROKEN: [string, string][] = [
  ['text before the diff', `hello\n${edit('src/a.py')}`],
  ['text behind a hunk', `${edit('src/a.py')}hello\n`],
  [
    'a second file without a header',
    `${edit('src/a.py')}--- a/tests/a.js\n+++ b/tests/a.js\n@@ -1 +1 @@\n-x\n+y\n`,
  ],
  ['a hunk with fewer lines than it says', edit('src/a.py').replace('@@ -1 +1 @@', '@@ -1,2 +1,2 @@')],
  ['names that do not agree', edit('src/a.py', 'tests/a.js')],
  ['a body for another file', edit('src/a.py').replace('+++ b/src/a.py', '+++ b/tests/a.js')],
  [
    'a rename of another file',
    move('src/a.py', 'src/b.py').replace('rename to src/b.py', 'rename to tests/b.py'),
  ],
  ['a cut end', edit('src/a.py').slice(0, -1)],
  [
    'binary content that is not in it',
    'diff --git a/src/x b/src/x\nindex 0000000..1111111\nBinary files a/src/x and b/src/x differ\n',
  ],
  ['an unfinished quote', edit('X').replaceAll('a/X', '"a/src/x')],
  ['random text', 'not a diff at all\n'],
];

test.each(BROKEN)('not parsed: %s', (_, diff) => {
  expect(parseDiff(Buffer.from(diff))).toHaveProperty('unparseable');
});

test('a header that can be read in millions of ways is refused before it is read in any', () => {
  const diff = Buffer.from(`diff --git a/${' b/'.repeat(2_700_000)}\n`);
  expect(parseDiff(diff)).toEqual({ unparseable: expect.stringContaining('longer than two names can be') });
});

test('any bytes are parsed or refused, never thrown at', () => {
  const piece = fc.oneof(
    fc.constantFrom(...HONEST.map(([, diff]) => diff), ...DISHONEST.map(([, diff]) => diff)),
    fc.string({ unit: 'binary', maxLength: 40 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 4 }), fc.nat(), (pieces, cut) => {
      const whole = Buffer.from(pieces.join(''));
      const result = filterDiff(whole.subarray(0, whole.length - (cut % 5)), rules, (path) => BASE.has(path));
      if ('unparseable' in result) return;
      const rule = pathRule(rules);
      const again = parseDiff(result.kept);
      if ('unparseable' in again) throw new Error('what was kept does not parse');
      for (const { oldName, newName } of again.sections)
        for (const name of [oldName, newName])
          if (name !== null) expect(rule(Buffer.from(name, 'latin1').toString())).toBeNull();
    }),
  );
});
