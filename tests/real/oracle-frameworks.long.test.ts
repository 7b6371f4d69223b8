/** Every framework whose tools the image has, in containers: base and wrong fix FAIL, right one PASS, a run cut short FAIL. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { outcomeOf } from '../../oracle/runner/outcome.ts';
import { type Files, learnIds, makeTask, type TaskSource } from '../support/container-task.ts';
import { noContainers } from '../support/docker-image.ts';
import {
  fixGo,
  fixNode,
  fixPython,
  GO,
  HTTP,
  NODE,
  PYTEST,
  wrongGo,
  wrongNode,
  wrongPython,
} from '../support/tasks-in-containers.ts';

const skipped = await noContainers();

const jestLike = (framework: 'vitest' | 'jest', load: string, extension: string): TaskSource => {
  const file = (tests: string) =>
    `${load}\nconst { total, count } = await import('../src/calc.js');\n${tests}`;
  const inside = (tests: string) =>
    framework === 'vitest' ? file(tests) : `const { total, count } = require('../src/calc.js');\n${tests}`;
  return {
    files: {
      'package.json': '{ "name": "calc" }\n',
      'src/calc.js': NODE.files['src/calc.js'] ?? '',
      [`test/calc.test.${extension}`]: inside("test('count', () => expect(count([1, 2])).toBe(2));\n"),
    },
    hidden: {
      [`test/hidden.test.${extension}`]: inside(
        "describe('total', () => {\n  test('of two', () => expect(total([1, 2])).toBe(3));\n});\ntest('FLIPSTREAM_CANARY', () => expect(total([1, 2])).toBe(4));\n",
      ),
    },
    task: { framework, suite: 'test', hidden: [`test/hidden.test.${extension}`], timeout_s: 60 },
  };
};

const UNITTEST: TaskSource = {
  ...PYTEST,
  files: { ...PYTEST.files, 'tests/test_calc.py': python('self.assertEqual(calc.count([1, 2]), 2)') },
  hidden: { 'tests/test_hidden.py': python('self.assertEqual(calc.total([1, 2]), 3)') },
  task: { framework: 'unittest', suite: 'tests', hidden: ['tests/test_hidden.py'] },
};

function python(check: string): string {
  return `import unittest\n\nimport tests.conftest\nimport calc\n\n\nclass Calc(unittest.TestCase):\n    def test_it(self):\n        ${check}\n`;
}

/** Anything that writes JUnit XML: here a shell script. */
const JUNIT: TaskSource = {
  files: { 'src/run.sh': 'echo 2\n' },
  hidden: {
    'hidden/check.sh': `got=$(sh src/run.sh)
is() { if [ "$got" = "$2" ]; then echo "<testcase classname='c' name='$1'/>"; else echo "<testcase classname='c' name='$1'><failure/></testcase>"; failed=1; fi; }
{ echo '<testsuites><testsuite>'; is three 3; is FLIPSTREAM_CANARY 4; echo '</testsuite></testsuites>'; } >"$REPORT"
exit $failed
`,
  },
  task: {
    framework: 'junit',
    suite: 'echo "<testsuite><testcase name=\'there\'/></testsuite>" >"$REPORT"',
    hidden: ['sh hidden/check.sh'],
  },
};

interface Case {
  source: TaskSource;
  fix: Files;
  wrong: Files;
  /** The right fix in a process that ends as if all were well. */
  cut: Files;
  ids: string[];
}

const EXIT_PYTHON = 'import os\nos._exit(0)\n';
const EXIT_NODE = 'process.exit(0);\n';
const nodeCase = (source: TaskSource, ids: string[]): Case => ({
  source,
  fix: fixNode(),
  wrong: wrongNode('// x\n'),
  cut: fixNode(EXIT_NODE),
  ids,
});
const pythonCase = (source: TaskSource, ids: string[]): Case => ({
  source,
  fix: fixPython(),
  wrong: wrongPython('# x\n'),
  cut: fixPython(EXIT_PYTHON),
  ids,
});
const PYTEST_IDS = ['tests/test_hidden.py::test_total', 'tests/test_hidden.py::test_total_of_nothing'];

const CASES: Record<string, Case> = {
  pytest: pythonCase(PYTEST, PYTEST_IDS),
  'pytest, apart from the code': pythonCase(HTTP, PYTEST_IDS),
  unittest: pythonCase(UNITTEST, ['tests.test_hidden.Calc.test_it']),
  'node:test': nodeCase(NODE, [
    'test/hidden.test.js > total > of two',
    'test/hidden.test.js > total > of none',
    'test/hidden.test.js > total',
  ]),
  vitest: nodeCase(jestLike('vitest', "import { describe, expect, test } from 'vitest';", 'mjs'), [
    'test/hidden.test.mjs > total > of two',
  ]),
  jest: nodeCase(jestLike('jest', '', 'js'), ['test/hidden.test.js > total > of two']),
  go: {
    source: GO,
    fix: fixGo('// x\n'),
    wrong: wrongGo('// x\n'),
    cut: {
      ...fixGo('// x\n'),
      'src/zz.go': 'package calc\n\nimport "os"\n\nfunc init() {\n\tos.Exit(0)\n}\n',
    },
    ids: ['example.invalid/calc/src::TestCount', 'example.invalid/calc/src::TestTotal'],
  },
  'JUnit XML': {
    source: JUNIT,
    fix: { 'src/run.sh': 'echo 3\n' },
    wrong: { 'src/run.sh': 'echo 4\n' },
    cut: { 'src/run.sh': 'kill -9 $PPID\n' },
    ids: ['c::three'],
  },
};

describe.skipIf(skipped !== null)('frameworks in containers', () => {
  test.each(Object.entries(CASES))('%s', async (_, { source, fix, wrong, cut, ids }) => {
    const task = await makeTask(source);
    onTestFinished(task.remove);
    const { evidence_fault, hidden } = await learnIds(task, task.diffOf(fix));
    expect(evidence_fault, hidden[0]?.output).toBeNull();
    expect(task.job.definition.expected_ids, hidden[0]?.output).toEqual(ids);
    expect(task.job.definition.suite_ids).not.toEqual([]);
    const code = async (change: Files | null, seed?: number) =>
      outcomeOf(await task.run(change && task.diffOf(change), { seed }));
    expect(await code(null)).toMatchObject({ code: 'FAIL' });
    expect(await code(wrong)).toMatchObject({ code: 'FAIL' });
    expect(await code(cut)).toMatchObject({ code: 'FAIL' });
    expect(await code(fix, 7)).toMatchObject({ code: 'PASS' });
  });
});
