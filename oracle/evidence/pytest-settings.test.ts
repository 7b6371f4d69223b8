/** Whose settings pytest is started with. In the place of pytest stands a module that says what it was given. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../testing.ts';
import { invocationOf, libraryOf } from './invocation.ts';

const STAND_IN = `import sys
hookimpl = lambda **_: lambda hook: hook
def main(args, plugins):
    sys.stderr.write("given: " + " ".join(args) + "\\n")
    return 0
`;

/** Runs a task's tests in a tree with these files. @returns the settings file that pytest was given, or null. */
function settingsIn(files: Record<string, string>, target = 'tests/unit'): string | null {
  const root = temporaryDirectory();
  const put = (path: string, content: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  };
  for (const [name, source] of Object.entries(libraryOf('pytest'))) put(`lib/${name}`, source);
  put('modules/pytest.py', STAND_IN);
  put('tree/tests/unit/test_x.py', '');
  // Above the tree: whoever can write there is not the repository.
  put('pytest.ini', '[pytest]\naddopts = -p evil\n');
  for (const [path, content] of Object.entries(files)) put(`tree/${path}`, content);
  const lib = join(root, 'lib');
  const { argv, env } = invocationOf('pytest', [target], {
    lib,
    report: join(root, 'report'),
    scratch: root,
  });
  const [program = '', ...args] = argv;
  const run = spawnSync(program, args, {
    cwd: join(root, 'tree'),
    env: { PATH: process.env.PATH, ...env, PYTHONPATH: join(root, 'modules') },
    encoding: 'utf8',
  });
  const given = /^given: (.*)$/m.exec(run.stderr)?.[1];
  expect(given, run.stderr).toContain(`--rootdir=. --confcutdir=. ${target}`);
  return /^-c (\S+) /.exec(given ?? '')?.[1]?.replace(root, '') ?? null;
}

test.each([
  ['none at all', {}],
  ['a pyproject.toml that says nothing of pytest', { 'pyproject.toml': '[project]\nname = "x"\n' }],
  ['settings of another folder', { 'other/pytest.ini': '[pytest]\n' }],
])('ours, where the repository has %s', (_, files) => {
  expect(settingsIn(files)).toBe('/lib/pytest.ini');
});

test.each([
  ['pytest.ini', ''],
  ['pyproject.toml', '[tool.pytest.ini_options]\npythonpath = ["src"]\n'],
  ['setup.cfg', '[tool:pytest]\n'],
  ['tox.ini', '[pytest]\n'],
  ['tests/pytest.ini', '[pytest]\n'],
])('the repository\u2019s own, where it has them in %s', (path, content) => {
  expect(settingsIn({ [path]: content })).toBeNull();
  expect(settingsIn({ [path]: content }, 'tests/unit/test_x.py::test_it')).toBeNull();
});
