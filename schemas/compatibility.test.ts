import { expect, test } from 'vitest';
import { schemaText } from './codec.ts';
import { dropped, hashBreaks, incompatibilities, unreadable } from './compatibility.ts';

const record = (...fields: object[]) => JSON.stringify({ type: 'record', name: 'flipstream.X', fields });
const a = { name: 'a', type: 'int' };
const withB = record(a, { name: 'b', type: ['null', 'string'], default: null });

test('a nullable addition with a default is compatible both ways', () => {
  expect(incompatibilities(withB, record(a))).toEqual([]);
  expect(incompatibilities(record(a), withB)).toEqual([]);
  expect(incompatibilities(schemaText('TraceEvent'), schemaText('TraceEvent'))).toEqual([]);
});

test('an incompatible change is refused with the field and the reason', () => {
  expect(incompatibilities(record(a, { name: 'b', type: 'string' }), record(a))).toEqual([
    "the new schema cannot read old records: field b: it is not in the writer's schema and has no default in the reader's",
  ]);
  expect(incompatibilities(record(), record(a))).toEqual([
    "the old schema cannot read new records: field a: it is not in the writer's schema and has no default in the reader's",
  ]);
  expect(unreadable(record({ name: 'a', type: 'string' }), record(a))).toEqual([
    'field a: cannot read "int" as "string"',
  ]);
  expect(incompatibilities(record({ name: 'a', type: 'long' }), record(a))).toEqual([
    'the old schema cannot read new records: field a: cannot read "long" as "int"',
  ]);
});

test('the field is named inside nested records; another record is not ours', () => {
  const nested = (type: string) =>
    record({ name: 'in', type: { type: 'record', name: 'Y', fields: [{ name: 'q', type }] } });
  expect(unreadable(nested('int'), nested('string'))).toEqual(['field in.q: cannot read "string" as "int"']);
  expect(unreadable('{"type":"record","name":"Z","fields":[]}', record(a))).toHaveLength(1);
  expect(unreadable('{"type":"what"}', record(a))).toHaveLength(1);
});

test('fields that an older reader would drop, also inside lists and unions', () => {
  expect(dropped(record(a), record(a))).toEqual([]);
  expect(dropped(withB, record(a))).toEqual([]);
  expect(dropped(record(a), withB)).toEqual(['b']);
  const inner = (...fields: object[]) => ({ type: 'record', name: 'Y', fields });
  const b = { name: 'b', type: 'int', default: 0 };
  const listed = (type: object) => record({ name: 'in', type: { type: 'array', items: type } });
  expect(dropped(listed(inner(a)), listed(inner(a, b)))).toEqual(['in.b']);
  const maybe = (type: object) => record({ name: 'in', type: ['null', type] });
  expect(dropped(maybe(inner(a)), maybe(inner(a, b)))).toEqual(['in.b']);
});

test('a symbol or a branch that an older reader would turn into something else', () => {
  const kind = (...symbols: string[]) =>
    record({ name: 'k', type: { type: 'enum', name: 'K', symbols, default: 'x' } });
  expect(dropped(kind('x'), kind('x', 'y'))).toEqual(['k.y']);
  const union = (...types: string[]) => record({ name: 'u', type: types, default: null });
  expect(dropped(union('null', 'int'), union('null', 'int', 'string'))).toEqual(['u.string']);
});

test('only a nullable addition leaves the hashes of older records as they are', () => {
  expect(hashBreaks(withB, record(a))).toEqual([]);
  expect(hashBreaks(record(a), withB)).toEqual(['b: what was released cannot be taken out']);
  const counted = { name: 'b', type: 'int', default: 0 };
  const added = 'what is added has to be a field that is nullable, with the default null';
  expect(hashBreaks(record(a, counted), record(a))).toEqual([`b: ${added}`]);
  const list = (...fields: object[]) =>
    record({ name: 'in', type: { type: 'array', items: { type: 'record', name: 'Y', fields } } });
  expect(hashBreaks(list(a, counted), list(a))).toEqual([`in.b: ${added}`]);
  const maybe = { name: 'b', type: ['null', 'int'], default: null };
  expect(hashBreaks(list(a, maybe), list(a))).toEqual([]);
});
