import fc from 'fast-check';
import { ADAPTERS } from './choose.ts';
import { payloadsOf } from './sample-payloads.ts';

/** Payloads of every harness with something wrong in them, for tests that nothing of ours goes wrong then. */

const NASTY = [
  '',
  '\u0000',
  '\ud800',
  '__proto__',
  '{"a":',
  '-----BEGIN RSA PRIVATE KEY-----',
  'Exit Code: 99999999999',
];
const anything = fc.oneof(
  fc.constantFrom<unknown>(...NASTY, null, true, -1, 1e308, [], {}, [null], { text: 3 }, { exitCode: 'x' }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.jsonValue({ maxDepth: 3 }),
);
const name = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'cwd', 'session_id', 'agent_id'),
  fc.string({ maxLength: 12 }),
);

/** Some fields of a payload replaced, some gone, some new; at times inside a field too. */
function altered(payloads: readonly object[]): fc.Arbitrary<string> {
  const all = [...new Set(payloads.flatMap((payload) => Object.keys(payload)))];
  const change = fc.tuple(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...all) }, name), anything);
  const changes = fc.array(change, { maxLength: 4 });
  return fc
    .tuple(
      fc.constantFrom(...payloads),
      changes,
      fc.array(fc.constantFrom(...all), { maxLength: 2 }),
      fc.boolean(),
    )
    .map(([payload, replaced, gone, deep]) => {
      const kept = Object.entries(payload).filter(([field]) => !gone.includes(field));
      const inner = kept.map(([field, value]) => [
        field,
        deep && isObject(value) ? { ...value, ...from(replaced) } : value,
      ]);
      return JSON.stringify({ ...Object.fromEntries(inner), ...(deep ? {} : from(replaced)) });
    });
}

const from = (pairs: readonly (readonly [string, unknown])[]) => Object.fromEntries(pairs);
const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns an arbitrary of what the hook may be given */
export function harnessPayloads(): fc.Arbitrary<Buffer> {
  const payloads = ADAPTERS.flatMap(({ harness }) => payloadsOf(harness));
  const whole = altered(payloads);
  const cut = fc.tuple(whole, fc.nat()).map(([text, at]) => text.slice(0, at % (text.length + 1)));
  return fc
    .oneof({ weight: 9, arbitrary: whole }, { weight: 1, arbitrary: cut })
    .map((text) => Buffer.from(text));
}
