/** Programs that start a framework and write down, line by line, what it says of each test. They lie beside the tree. */

/**
 * The import path gets the tree only when pytest itself is loaded: nothing in the tree stands in front of it. Settings
 * are the base commit's, which no diff may change; where it has none pytest is given ours (PYTEST_SETTINGS), since it
 * would go on looking in the folders above the tree.
 */
export const PYTEST_MAIN = `import json, os, pathlib, random, sys
import pytest

OURS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pytest.ini")
sys.path[0] = os.getcwd()
# Name of each file that pytest reads, and what has to be in it.
SETTINGS = {
    **{"pytest.ini": "", ".pytest.ini": "", "pytest.toml": "", ".pytest.toml": ""},
    **{"pyproject.toml": "[tool.pytest", "tox.ini": "[pytest]", "setup.cfg": "[tool:pytest]"},
}


def has_settings(targets):
    tree = pathlib.Path.cwd()
    folders = {tree}
    for target in targets:
        path = (tree / target.split("::")[0]).resolve()
        folders.update(folder for folder in (path, *path.parents) if tree in folder.parents)
    files = [(folder / name, sign) for folder in folders for name, sign in SETTINGS.items()]
    return any(file.is_file() and sign in file.read_text(errors="replace") for file, sign in files)


class Reporter:
    def __init__(self):
        self.out = open(os.environ["REPORT"], "w")

    def say(self, id, outcome):
        self.out.write(json.dumps({"id": id, "outcome": outcome}) + "\\n")
        self.out.flush()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        seed = os.environ.get("SEED")
        if seed is not None:
            random.Random(seed).shuffle(items)

    def pytest_collectreport(self, report):
        if report.failed:
            self.say(report.nodeid, "error")

    def pytest_runtest_logreport(self, report):
        if hasattr(report, "wasxfail"):
            self.say(report.nodeid, "xfailed")
        elif report.when == "call" or report.skipped:
            self.say(report.nodeid, report.outcome)
        elif report.failed:
            self.say(report.nodeid, "error")


targets = [word for word in sys.argv[1:] if not word.startswith("-")]
ours = [] if has_settings(targets) else ["-c", OURS]
sys.exit(pytest.main([*ours, *sys.argv[1:]], plugins=[Reporter()]))
`;

/** Nothing but pytest's own defaults. */
export const PYTEST_SETTINGS = '[pytest]\n';

export const UNITTEST_MAIN = `import json, os, pathlib, random, sys, unittest

sys.path[0] = os.getcwd()
out = open(os.environ["REPORT"], "w")


def says(outcome, method):
    def add(self, test, *rest):
        out.write(json.dumps({"id": test.id(), "outcome": outcome}) + "\\n")
        out.flush()
        getattr(super(Result, self), method)(test, *rest)

    return add


class Result(unittest.TextTestResult):
    addSuccess = says("passed", "addSuccess")
    addFailure = says("failed", "addFailure")
    addError = says("error", "addError")
    addSkip = says("skipped", "addSkip")
    addExpectedFailure = says("xfailed", "addExpectedFailure")
    addUnexpectedSuccess = says("xfailed", "addUnexpectedSuccess")

    def addSubTest(self, test, subtest, error):
        if error is not None:
            out.write(json.dumps({"id": test.id(), "outcome": "failed"}) + "\\n")
            out.flush()
        super().addSubTest(test, subtest, error)


def load(target):
    if os.path.isdir(target):
        files = sorted(map(str, pathlib.Path(target).rglob("test*.py")))
        return unittest.TestSuite(map(load, files))
    name = target[:-3].replace("/", ".") if target.endswith(".py") else target
    return unittest.defaultTestLoader.loadTestsFromName(name)


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


tests = list(flat(map(load, sys.argv[1:])))
if os.environ.get("SEED") is not None:
    random.Random(os.environ["SEED"]).shuffle(tests)
result = unittest.TextTestRunner(resultclass=Result, verbosity=2).run(unittest.TestSuite(tests))
sys.exit(0 if result.wasSuccessful() else 1)
`;

/** For \`node --test\`. Its own JUnit reporter loses the failure of a test that has subtests. */
export const NODE_REPORTER = `import { relative } from 'node:path';

export default async function* report(source) {
  const names = [];
  for await (const { type, data } of source) {
    if (type === 'test:start') names.splice(data.nesting, Infinity, data.name);
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (type === 'test:pass' && data.details?.type === 'suite') continue;
    names.splice(data.nesting, Infinity, data.name);
    const file = data.file === undefined ? '' : relative(process.cwd(), data.file);
    const passed = data.expectFailure === undefined ? 'passed' : 'xfailed';
    const ran = type === 'test:pass' ? passed : 'failed';
    const outcome = data.skip !== undefined ? 'skipped' : data.todo !== undefined ? 'xfailed' : ran;
    yield JSON.stringify({ id: [file, ...names].join(' > '), outcome }) + '\\n';
  }
}
`;

/** Starts a package's program from wherever the tree or the image has it installed. */
export const RUN_BIN = `import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [name, ...args] = process.argv.slice(2);
const manifest = createRequire(join(process.cwd(), 'x.js')).resolve(name + '/package.json');
const { bin, version } = JSON.parse(readFileSync(manifest, 'utf8'));
const program = join(dirname(manifest), typeof bin === 'string' ? bin : bin[name]);
// Before 28 jest knows no test that is expected to fail, and may have another runner.
const old = name === 'jest' && Number.parseInt(version, 10) < 28;
const known = args.filter((arg) => !old || !arg.startsWith('--testRunner='));
process.argv = [process.argv[0], program, ...known];
await import(pathToFileURL(program).href);
`;

/**
 * Before vitest's own JSON reporter, which says of a test that is expected to fail, and did, that it passed. Newer
 * versions call the first, older ones the second.
 */
export const VITEST_MARKER = `const mark = (task) => {
  for (const each of task.tasks ?? []) mark(each);
  if (task.fails && task.result?.state === 'pass') task.result.state = 'todo';
};

export default class Marker {
  onTestRunEnd(modules) {
    for (const { task } of modules) mark(task);
  }
  onFinished(files = []) {
    for (const file of files) mark(file);
  }
}
`;

/** jest-circus, but for the same of \`test.failing\`. It is found by way of the packages that depend on it. */
export const JEST_RUNNER = `const { createRequire } = require('node:module');
const { join } = require('node:path');

const start = createRequire(join(process.cwd(), 'x.js'));
const circus = ['jest', '@jest/core', 'jest-config']
  .reduce((from, name) => createRequire(from.resolve(name + '/package.json')), start)('jest-circus/runner');

function titles({ name, parent }) {
  return parent ? [...titles(parent), name] : [];
}

module.exports = async (globalConfig, config, environment, ...rest) => {
  const failing = new Set();
  const handle = environment.handleTestEvent?.bind(environment);
  environment.handleTestEvent = async (event, state) => {
    if (event.name === 'test_done' && event.test.failing) failing.add(JSON.stringify(titles(event.test)));
    await handle?.(event, state);
  };
  const result = await circus(globalConfig, config, environment, ...rest);
  for (const test of result.testResults) {
    const expected = failing.has(JSON.stringify([...test.ancestorTitles, test.title]));
    if (expected && test.status === 'passed') test.status = 'todo';
  }
  return result;
};
`;
