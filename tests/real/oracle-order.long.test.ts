/** Tests are shuffled where their framework can: each tells in which order it was really run. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeTask, type TaskSource } from '../support/container-task.ts';
import { noContainers } from '../support/docker-image.ts';
import { GO, PYTEST } from '../support/tasks-in-containers.ts';

const skipped = await noContainers();
const NAMES = ['a', 'b', 'c', 'd', 'e'];

/** Each test notes its name; whichever is the last of them fails, and says them all. */
const PYTHON = `said = []


def say(name):
    said.append(name)
    assert len(said) < ${NAMES.length}, "order=" + ",".join(said)


${NAMES.map((name) => `def test_${name}():\n    say("${name}")\n\n\n`).join('')}`;

const UNITTEST = `import unittest

said = []


class Order(unittest.TestCase):
    def say(self, name):
        said.append(name)
        if len(said) == ${NAMES.length}:
            self.fail("order=" + ",".join(said))

${NAMES.map((name) => `    def test_${name}(self):\n        self.say("${name}")\n\n`).join('')}`;

const javascript = (load: string) => `${load}
const said = [];
for (const name of ${JSON.stringify(NAMES)})
  test(name, () => {
    said.push(name);
    if (said.length === ${NAMES.length}) throw new Error('order=' + said.join(','));
  });
`;

const GO_TESTS = `package calc

import (
	"strings"
	"testing"
)

var said []string

func say(t *testing.T, name string) {
	said = append(said, name)
	if len(said) == ${NAMES.length} {
		t.Fatal("order=" + strings.Join(said, ","))
	}
}
${NAMES.map((name) => `\nfunc TestOrder${name.toUpperCase()}(t *testing.T) {\n\tsay(t, "${name}")\n}\n`).join('')}`;

const withSuite = (source: TaskSource, path: string, content: string, task: object): TaskSource => ({
  ...source,
  files: { ...source.files, [path]: content },
  task: { ...source.task, suite: path, timeout_s: 120, ...task },
});
const inJavascript = (framework: 'jest' | 'vitest', load: string): TaskSource => {
  const path = framework === 'jest' ? 'test/order.test.js' : 'test/order.test.mjs';
  return {
    files: { 'package.json': '{ "name": "calc" }\n', [path]: javascript(load) },
    hidden: { [path.replace('order', 'hidden')]: `${load}\ntest('it', () => {});\n` },
    task: { framework, suite: path, hidden: [path.replace('order', 'hidden')], timeout_s: 120 },
  };
};

const CASES: Record<string, TaskSource> = {
  pytest: withSuite(PYTEST, 'tests/test_order.py', PYTHON, {}),
  unittest: withSuite(PYTEST, 'tests/test_order.py', UNITTEST, { framework: 'unittest' }),
  vitest: inJavascript('vitest', "import { test } from 'vitest';"),
  jest: inJavascript('jest', ''),
  go: withSuite(GO, 'src/order_test.go', GO_TESTS, { suite: './src' }),
};

describe.skipIf(skipped !== null)('order', () => {
  test.each(Object.entries(CASES))(
    'O6 %s runs its tests as written, and with a seed in another order',
    async (_, source) => {
      const task = await makeTask(source);
      onTestFinished(task.remove);
      const order = async (seed?: number) => {
        const { suite } = await task.run(null, { seed });
        const said = /order=([a-e](?:,[a-e])*)/.exec(suite?.output ?? '')?.[1];
        expect(said?.split(',').toSorted(), suite?.output).toEqual(NAMES);
        return said;
      };
      expect(await order()).toBe(NAMES.join(','));
      const [first, again, second] = [await order(1), await order(1), await order(2)];
      expect(again).toBe(first);
      expect(new Set([first, second, NAMES.join(',')]).size).toBe(3);
    },
  );
});
