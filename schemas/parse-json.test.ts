import { expect, test } from 'vitest';
import { messageOf } from './errors.ts';
import { parseJson } from './parse-json.ts';

function refusal(text: string): string {
  try {
    parseJson(text);
  } catch (error) {
    return messageOf(error);
  }
  throw new Error(`${text} was read`);
}

test('what is JSON is read as JSON.parse reads it', () => {
  for (const text of ['null', '"a"', '{"a":[1,{"b":"\\u00e9"}]}', ' 1e3 '])
    expect(parseJson(text)).toEqual(JSON.parse(text));
});

test.each([
  ['', 'it is empty, and no JSON'],
  [' \n', 'it is empty, and no JSON'],
  ['{"token": "fso_SECRET', 'it stops being JSON at line 1, column 22'],
  ['{"token": ', 'it ends before its JSON does'],
  ['{\n  "v": 1,\n  "token": fso_SECRET\n}', 'it stops being JSON at line 3, column 13'],
  ['{"token": fso_SECRET}', 'it stops being JSON at line 1, column 12'],
  ['{"a": 1} fso_SECRET', 'it stops being JSON at line 1, column 10'],
  ['fso_SECRET', 'it stops being JSON at line 1, column 2'],
  ['SECRET', 'it stops being JSON at line 1, column 1'],
  ['[1,]', 'it stops being JSON at line 1, column 4'],
  ['undefined', 'it stops being JSON at line 1, column 1'],
  ['[object Object]', 'it stops being JSON at line 1, column 2'],
  [`${'[1],'.repeat(2 ** 18)}SECRET`, 'it stops being JSON at line 1, column 4'],
  [`[${'[1],'.repeat(2 ** 18)}SECRET`, 'it is no JSON'],
])('%#: where it stops is told, and nothing of it', (text, said) => {
  expect(refusal(text)).toBe(said);
});

test('V8 quotes, as of the release that runs this', () => {
  expect(() => JSON.parse('{"token": fso_SECRET}')).toThrow(/SECRET/);
});
