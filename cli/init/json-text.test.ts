import fc from 'fast-check';
import { applyEdits, modify } from 'jsonc-parser';
import { expect, test } from 'vitest';
import { readTree, without } from './json-text.ts';

const list = (text: string, index: number) => without(text, readTree(text), index);

test('any part of any container goes, and nothing else', () => {
  const laidOut = fc
    .tuple(
      fc.array(fc.jsonValue({ maxDepth: 2 }), { minLength: 1, maxLength: 4 }),
      fc.constantFrom(0, 2, '\t'),
    )
    .map(([items, indent]) => ({ items, text: JSON.stringify(items, null, indent) }));
  fc.assert(
    fc.property(laidOut, fc.nat(3), ({ items, text }, at) => {
      const index = at % items.length;
      expect(JSON.stringify(JSON.parse(list(text, index)))).toBe(JSON.stringify(items.toSpliced(index, 1)));
    }),
  );
});

test.each([
  ['[1, // one\n 2]', 1, '[1 // one\n ]'],
  ['[1, /* two */ 2, 3]', 1, '[1 /* two */ , 3]'],
  ['[1, // a comma, here\n 2]', 0, '[ // a comma, here\n 2]'],
  ['[\n  1,\n]', 0, '[]'],
  ['[// one\n1]', 0, '[// one\n]'],
])('comments stay: %j', (text, index, left) => {
  expect(list(text, index)).toBe(left);
});

/** Why docs/decisions/0007-edits-of-our-own.md says so. Should these fail one day, `modify` can be looked at again. */
test('modify of jsonc-parser damages compact text, and lays out what is beside its own change', () => {
  expect(applyEdits('[1,2]', modify('[1,2]', [1], undefined, {}))).toBe('[12]');
  const theirs = '{"a":[1,2],"hooks":{}}';
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: '\n' };
  const changed = applyEdits(theirs, modify(theirs, ['hooks', 'Stop'], [], { formattingOptions }));
  expect(changed.startsWith('{"a":[1,2],"hooks":{')).toBe(false);
  expect(applyEdits(theirs, modify(theirs, ['hooks', 'Stop'], [{ x: 1 }], {}))).not.toContain('\n');
});
