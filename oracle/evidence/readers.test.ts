import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { readCargoText } from './cargo-text.ts';
import { readGoJson } from './go-json.ts';
import { readJestJson } from './jest-json.ts';
import { readJsonLines } from './json-lines.ts';
import { readJunitXml } from './junit-xml.ts';
import { FILE_NAME_LIMIT } from './report.ts';

const recorded = (name: string) => readFileSync(new URL(`recorded/${name}`, import.meta.url), 'utf8');
const told = (tests: { id: string; outcome: string }[] | null) =>
  tests?.map(({ id, outcome }) => `${id} ${outcome}`) ?? null;

test('go test -json, as Go 1.26 wrote it: what a test prints is no result', () => {
  expect(told(readGoJson(recorded('go-test.jsonl'), ''))).toEqual([
    'example.invalid/calc::TestTotal/of_two passed',
    'example.invalid/calc::TestTotal passed',
    'example.invalid/calc::TestSkipped skipped',
    'example.invalid/calc::TestKab failed',
  ]);
});

test('cargo test, as Rust 1.95 wrote it', () => {
  expect(told(readCargoText(recorded('cargo-test.txt'), ''))).toEqual([
    'src/lib.rs::tests::later skipped',
    'src/lib.rs::tests::totals passed',
    'src/lib.rs::tests::panics passed',
    'tests/hidden.rs::total_of_two passed',
    'tests/hidden.rs::canary_Kab failed',
    'calc::src/lib.rs - total (line 1) passed',
  ]);
});

test('JUnit XML: suites in suites, entities, every outcome', () => {
  const xml = `<?xml version="1.0"?><testsuites><testsuite name="a">
    <testcase classname="pkg.A" name="x &lt; y &amp; z"/>
    <testcase classname="pkg.A" name="fails"><failure message="m">text</failure></testcase>
    <testcase classname="pkg.A" name="breaks"><error/></testcase>
    <testsuite name="inner"><testcase name="later"><skipped/></testcase></testsuite>
    <testcase classname="pkg.A" name="known"><skipped type="pytest.xfail" message="x"/></testcase>
  </testsuite></testsuites>`;
  expect(told(readJunitXml(xml, ''))).toEqual([
    'pkg.A::x < y & z passed',
    'pkg.A::fails failed',
    'pkg.A::breaks error',
    'pkg.A::known xfailed',
    'later skipped',
  ]);
  expect(told(readJunitXml('<testsuite><testcase name="1"/><testcase name="1"/></testsuite>', ''))).toEqual([
    '1 passed',
    '1 passed',
  ]);
  for (const broken of ['', 'PASS', xml.slice(0, 200), '<html></html>', '<testsuite/>'])
    expect(readJunitXml(broken, '')).toBeNull();
});

test.each([
  // googletest
  ['status="run" result="completed"', '', 'passed'],
  ['status="notrun" result="suppressed"', '', 'skipped'],
  ['status="run" result="skipped"', '', 'skipped'],
  ['status="run" result="completed"', '<failure/>', 'failed'],
  ['status="notrun"', '', 'skipped'],
  // CTest
  ['status="run"', '<system-out/>', 'passed'],
  ['status="fail"', '<failure/>', 'failed'],
  ['status="fail"', '', 'failed'],
  ['status="disabled"', '<skipped message="Disabled"/>', 'skipped'],
  ['status="disabled"', '', 'skipped'],
  // others
  ['status="passed"', '', 'passed'],
  ['status="Success"', '', 'passed'],
  ['status="ignored"', '', 'skipped'],
  ['result="interrupted"', '', 'skipped'],
  ['', '<disabled/>', 'skipped'],
  ['', '<ignored/>', 'skipped'],
  ['status=""', '', 'skipped'],
])('JUnit XML: a test case with %s and %s is %s', (attributes, inside, outcome) => {
  const xml = `<testsuite><testcase name="x" ${attributes}>${inside}</testcase></testsuite>`;
  expect(told(readJunitXml(xml, ''))).toEqual([`x ${outcome}`]);
});

test('the JSON of jest and vitest: a file that cannot be loaded is an error', () => {
  const report = {
    testResults: [
      {
        name: '/work/repo/test/a.test.js',
        status: 'failed',
        assertionResults: [
          { ancestorTitles: ['sum'], title: 'of two', status: 'passed' },
          { ancestorTitles: [], title: 'later', status: 'pending' },
          { ancestorTitles: [], title: 'some day', status: 'todo' },
          { ancestorTitles: [], title: 'bad', status: 'failed' },
        ],
      },
      { name: '/work/repo/test/b.test.js', status: 'failed', assertionResults: [] },
    ],
  };
  expect(told(readJestJson(JSON.stringify(report), '/work/repo'))).toEqual([
    'test/a.test.js > sum > of two passed',
    'test/a.test.js > later skipped',
    'test/a.test.js > some day xfailed',
    'test/a.test.js > bad failed',
    'test/b.test.js error',
  ]);
});

test('whatever a report holds, reading it does not throw, and what is no report is none', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.string().map((text) => `<testsuite>${text}</testsuite>`),
      ),
      (text) => {
        for (const read of [readGoJson, readCargoText, readJestJson, readJsonLines, readJunitXml])
          expect(read(text, '/x') ?? [{ id: '', outcome: 'passed' }]).not.toEqual([]);
      },
    ),
  );
});

// Tried from each place to its end it took a minute, which the time of a test does not allow.
test('cargo test: a line made to be read again and again is read once', () => {
  expect(readCargoText(`test a${' ... ok, '.repeat(100_000)}\u2028`, '')).toHaveLength(1);
});

/** What every object has, and whatever else. */
const anyWord = fc.oneof(fc.constantFrom(...Object.getOwnPropertyNames(Object.prototype)), fc.string());
const KNOWN = ['passed', 'failed', 'skipped', 'xfailed', 'error'];

test('whatever words a report has, the outcome of each test is a known one', () => {
  fc.assert(
    fc.property(anyWord, anyWord, (word, other) => {
      const jest = { ancestorTitles: [other], title: word, status: word };
      const file = { name: other, status: word, assertionResults: [jest], [other]: word };
      const named = word.replaceAll(/[^a-z_]/gi, '_');
      const read = [
        readGoJson(JSON.stringify({ Action: word, Package: other, Test: word, [other]: word }), ''),
        readJestJson(JSON.stringify({ testResults: [file], [word]: other }), '/x'),
        readJestJson(JSON.stringify({ testResults: [{ ...file, assertionResults: [] }] }), '/x'),
        readJsonLines(JSON.stringify({ id: other, outcome: word, [other]: word }), ''),
        readCargoText(`Running ${other} (x)\ntest ${other} ... ${word}\ntest ${word} ... ok`, ''),
        readJunitXml(`<testsuite><testcase name="x" status="${named}" ${named}="x"/></testsuite>`, ''),
        readJunitXml(`<testsuite><testcase name="x"><${named}/></testcase><${named}/></testsuite>`, ''),
      ];
      for (const { id, outcome } of read.flatMap((tests) => tests ?? [])) {
        expect(id).toBeTypeOf('string');
        expect(KNOWN).toContain(outcome);
      }
    }),
  );
});

test('a word that every object has is no outcome', () => {
  const lines = Object.getOwnPropertyNames(Object.prototype).map((Action) => ({
    Action,
    Package: 'p',
    Test: 'a',
  }));
  expect(readGoJson(lines.map((line) => JSON.stringify(line)).join('\n'), '')).toBeNull();
});

test('a name of a file that no file has, which each of its tests would repeat, makes it no report', () => {
  const long = 'a'.repeat(FILE_NAME_LIMIT + 1);
  const jest = (name: string) =>
    JSON.stringify({ testResults: [{ name, status: 'failed', assertionResults: [] }] });
  const cargo = (name: string) => `Running ${name} (x)\ntest a ... ok`;
  expect([readJestJson(jest(long), '/x'), readCargoText(cargo(long), '')]).toEqual([null, null]);
  expect(readJestJson(jest(long.slice(1)), '/x')).toHaveLength(1);
  expect(readCargoText(cargo(long.slice(1)), '')).toHaveLength(1);
});

test('go test -json: what is no event of a test is not parsed, which takes seconds for a million lines', () => {
  const parse = vi.spyOn(JSON, 'parse');
  expect(readGoJson('\n{\n'.repeat(1000), '')).toBeNull();
  expect(parse).not.toHaveBeenCalled();
  parse.mockRestore();
});
