import { fc, test } from '@fast-check/vitest';
import { expect } from 'vitest';
import { createSlicer, type Slice } from './document.ts';

/** The document as it is put together again from what was cut out of it. */
function joined(slices: readonly Slice[], isArray: boolean): unknown {
  const root: Record<string, unknown> = {};
  const list: unknown[] = [];
  for (const { key, index, bytes } of slices) {
    const value: unknown = JSON.parse(String(bytes));
    if (key === null) list.push(value);
    else if (index === null) Object.defineProperty(root, key, { value, enumerable: true });
    else {
      const before = Object.hasOwn(root, key) ? root[key] : [];
      Object.defineProperty(root, key, {
        value: [...(Array.isArray(before) ? before : []), value],
        enumerable: true,
        configurable: true,
      });
    }
  }
  return isArray ? list : root;
}

const name = fc.oneof(fc.constantFrom('steps', 'info', '__proto__', 'a"b', 'x\\'), fc.string());
const document = fc.oneof(
  fc.dictionary(name, fc.jsonValue(), { noNullPrototype: true }),
  fc.record({ steps: fc.array(fc.jsonValue(), { minLength: 1 }), info: fc.jsonValue() }),
  fc.array(fc.jsonValue()),
);

test.prop([document, fc.integer({ min: 1, max: 40 }), fc.constantFrom(undefined, 1, '\t')])(
  'any document, in parts of any size, is what JSON.parse makes of it',
  (value, size, space) => {
    const text = Buffer.from(JSON.stringify(value, null, space));
    const slicer = createSlicer({ split: new Set(['steps']), most: 1e6 });
    const slices: Slice[] = [];
    for (let at = 0; at < text.length; at += size) slices.push(...slicer.feed(text.subarray(at, at + size)));
    expect(slicer.whole()).toBe(true);
    const expected: unknown = JSON.parse(text.toString());
    // an array that is cut up and empty has no elements to tell of it
    if (!Array.isArray(expected) && isEmptySteps(expected)) return;
    expect(JSON.stringify(joined(slices, Array.isArray(expected)))).toBe(JSON.stringify(expected));
  },
);

function isEmptySteps(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'steps' in value &&
    Array.isArray(value.steps) &&
    value.steps.length === 0
  );
}

test.prop([fc.uint8Array({ maxLength: 200 }), fc.integer({ min: 1, max: 9 })])(
  'bytes that are no JSON never throw',
  (bytes, size) => {
    const slicer = createSlicer({ split: new Set(['steps']), most: 50 });
    for (let at = 0; at < bytes.length; at += size) slicer.feed(Buffer.from(bytes.subarray(at, at + size)));
  },
);
