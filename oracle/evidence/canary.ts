import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import type { Command, Framework } from '../tasks/definition.ts';
import type { HiddenFile } from '../tasks/tests-hash.ts';

/** Stands in hidden files where a run's random word is to stand. */
const CANARY = 'FLIPSTREAM_CANARY';

/** A word for one run, good in the middle of any language's names; the capital is for Go's `TestX`. */
export function canaryWord(): string {
  return `K${randomBytes(8).toString('hex')}`;
}

const PYTHON = /^(test_.*|.*_test)\.py$/;
const JAVASCRIPT = /(^test|[._-]test|[._-]spec)\.[cm]?[jt]sx?$/;

const TEST_FILES: Record<Framework, RegExp | null> = {
  pytest: PYTHON,
  unittest: PYTHON,
  'node:test': JAVASCRIPT,
  vitest: JAVASCRIPT,
  jest: JAVASCRIPT,
  go: /_test\.go$/,
  cargo: /\.rs$/,
  junit: null,
};

const jsCases = (w: string, names: { test: string; equal: string; deep: string; ok: string }) =>
  [
    [1, `${names.equal}(1, 2)`],
    [2, `${names.deep}({ a: [1] }, { a: [2] })`],
    [3, `${names.ok}`],
  ]
    .map(([at, check]) => `${names.test}('${w}_${at}', () => { ${check}; });\n`)
    .join('');

/** Tests that must fail, one for each way in which a framework's own assertions could have been changed. */
const CASES: Record<Exclude<Framework, 'junit'>, (word: string, content: string) => string> = {
  pytest: (w) =>
    `\n\ndef test_${w}_1():\n    assert 1 == 2\n\n\ndef test_${w}_2():\n    assert [1, {"a": 1}] == [1, {"a": 2}]\n`,
  unittest: (w) =>
    `\n\nimport unittest as ${w}\n\n\nclass T${w}(${w}.TestCase):\n    def test_${w}_1(self):\n        self.assertEqual(1, 2)\n\n` +
    `    def test_${w}_2(self):\n        self.assertTrue(1 == 2)\n\n    def test_${w}_3(self):\n        assert 1 == 2\n`,
  'node:test': (w, content) => {
    const [t, a] = [`${w}t`, `${w}a`];
    const load = isModule(content)
      ? `import ${t} from 'node:test';\nimport ${a} from 'node:assert';\n`
      : `const ${t} = require('node:test');\nconst ${a} = require('node:assert');\n`;
    const names = {
      test: t,
      equal: `${a}.strictEqual`,
      deep: `${a}.deepStrictEqual`,
      ok: `${a}.ok(1 === 2)`,
    };
    return `\n${load}${jsCases(w, names)}`;
  },
  vitest: (w) => {
    const equal = (name: string) => `(a, b) => ${w}e(a).${name}(b)`;
    const names = {
      test: `${w}t`,
      equal: `(${equal('toBe')})`,
      deep: `(${equal('toEqual')})`,
      ok: `${w}e(1 === 2).toBeTruthy()`,
    };
    return `\nimport { test as ${w}t, expect as ${w}e } from 'vitest';\n${jsCases(w, names)}`;
  },
  jest: (w) => {
    const equal = (name: string) => `((a, b) => expect(a).${name}(b))`;
    return `\n${jsCases(w, { test: 'test', equal: equal('toBe'), deep: equal('toEqual'), ok: 'expect(1 === 2).toBeTruthy()' })}`;
  },
  go: (w) => `\nfunc Test${w}(t *testing.T) {\n\tt.Error("expected to fail")\n}\n`,
  cargo: (w) => `\n#[test]\nfn canary_${w}() {\n    assert_eq!(1, 2);\n}\n`,
};

const isModule = (content: string) => /^\s*(import|export)\s/m.test(content);

/**
 * Puts this run's canaries into the hidden tests: the word where an author wrote FLIPSTREAM_CANARY, and tests of our
 * own at the end of test files where none did. What an author writes can ask the code for something wrong, which
 * finds values that are equal to everything; ours only show that failing tests are seen to fail.
 */
export function plantCanaries(
  framework: Framework,
  hidden: readonly HiddenFile[],
  targets: readonly Command[],
  word: string,
): HiddenFile[] {
  const named = new Set(targets.flat());
  return hidden.map((file) => {
    if (file.content.includes(CANARY))
      return {
        ...file,
        content: Buffer.from(file.content.toString('latin1').replaceAll(CANARY, word), 'latin1'),
      };
    const tests = named.has(file.path) || TEST_FILES[framework]?.test(basename(file.path)) === true;
    if (framework === 'junit' || !tests) return file;
    const own = CASES[framework](word, file.content.toString('latin1'));
    return { ...file, content: Buffer.concat([file.content, Buffer.from(own)]) };
  });
}
