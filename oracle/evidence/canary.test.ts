import { expect, test } from 'vitest';
import { canaryWord, plantCanaries } from './canary.ts';

const file = (path: string, content: string) => ({ path, executable: false, content: Buffer.from(content) });
const planted = (...args: Parameters<typeof plantCanaries>) =>
  plantCanaries(...args).map(({ content }) => content.toString());

test('every run has a word of its own, good in the middle of a name', () => {
  const words = Array.from({ length: 100 }, canaryWord);
  expect(new Set(words).size).toBe(100);
  for (const word of words) expect(word).toMatch(/^K[0-9a-f]{16}$/);
});

test('an author\u2019s canary gets the word, wherever it stands, and nothing else is added', () => {
  const own = 'def test_FLIPSTREAM_CANARY_total():\n    assert total(1) == "\u00e4 FLIPSTREAM_CANARY"\n';
  expect(planted('pytest', [file('tests/test_x.py', own)], [['tests']], 'Kab')).toEqual([
    'def test_Kab_total():\n    assert total(1) == "\u00e4 Kab"\n',
  ]);
});

test('a test file without one gets ours at its end; what is no test file stays as it is', () => {
  const data = file('tests/data.py', 'X = 1\n');
  const [tests, same] = planted('pytest', [file('tests/test_x.py', 'X = 1\n'), data], ['tests'], 'Kab');
  expect(tests).toMatch(/^X = 1\n\n\ndef test_Kab_1\(\):/);
  expect(same).toBe('X = 1\n');
  expect(planted('pytest', [file('odd.py', '')], [['odd.py']], 'Kab')[0]).toContain('test_Kab_1');
  expect(planted('junit', [file('test_x.py', '')], ['x'], 'Kab')).toEqual(['']);
});

test('a JavaScript test file gets canaries in its own kind of module', () => {
  const module = planted('node:test', [file('a.test.js', "import test from 'node:test';\n")], [], 'Kab')[0];
  expect(module).toContain("import Kabt from 'node:test'");
  const script = planted(
    'node:test',
    [file('a.test.js', "const test = require('node:test');\n")],
    [],
    'Kab',
  )[0];
  expect(script).toContain("require('node:assert')");
  expect(script).not.toContain('import ');
});
