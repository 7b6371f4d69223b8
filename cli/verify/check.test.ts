import { test } from '@fast-check/vitest';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { saltedDigest } from '../../schemas/hash.ts';
import { headerHash } from '../../schemas/header.ts';
import { signVerdict, verdictHash } from '../../schemas/signature.ts';
import { type Bundle, bundleText, makeBundle, parseOneFile } from './bundle.ts';
import { checkBundle } from './check.ts';
import { SESSION, sampleSession } from './testing.ts';

const sample = sampleSession();
const bundle = makeBundle(SESSION, sample.events, sample.verdicts, sample.ring);
const bytes = Buffer.from(bundleText(bundle));
const check = (change: Partial<Bundle>) => checkBundle({ ...bundle, ...change }, null);
const codes = (change: Partial<Bundle>) => check(change).problems.map((problem) => problem.code);
const at = (change: Partial<Bundle>) =>
  check(change)
    .problems.map((problem) => problem.where)
    .join('; ');

describe('an untouched bundle', () => {
  test('is intact up to the last head, unattested after it, and a flip', () => {
    const report = check({});
    expect(report.problems).toEqual([]);
    expect(report).toMatchObject({ state: 'intact', flip: true, unattested: 3 });
    expect(report.ranges).toEqual([
      { chain_id: 'chain-a', from: 0, to: 5, state: 'intact' },
      { chain_id: 'chain-a', from: 6, to: 8, state: 'unattested' },
    ]);
    expect(report.verdicts.map((verdict) => verdict.attests_to)).toEqual([null, 2, 5]);
  });

  test('reads the same from one file', () => {
    expect(parseOneFile(bytes, 'x')).toEqual(bundle);
  });

  test('is unattested without a verdict', () => {
    const alone = makeBundle(SESSION, sample.events.slice(0, 3), [], sample.ring);
    expect(checkBundle(alone, null).state).toBe('unattested');
  });

  test('is unattested when the checker trusts other keys', () => {
    const other = sampleSession().ring;
    expect(checkBundle(bundle, other).state).toBe('altered');
    const report = checkBundle(bundle, { v: 1, keys: [] });
    expect(report.state).toBe('unattested');
    expect(
      report.problems.every(
        (problem) => problem.code === 'verdict_refused' || problem.code === 'verdict_missing',
      ),
    ).toBe(true);
  });
});

test('a bundle of a newer release holds: what only that one knows is chained and signed like the rest', () => {
  const heads = new Map<string | null, string>([[null, '']]);
  let prev: string | null = null;
  const events = sample.events.map((event) => {
    const newer = { ...event, prev, mood: 'curious' };
    prev = headerHash(newer);
    heads.set(headerHash(event), prev);
    return newer;
  });
  let before: string | null = null;
  const verdicts = sample.verdicts.map((verdict) => {
    const head = verdict.head === null ? null : (heads.get(verdict.head) ?? null);
    const fields = { ...verdict, head, oracle_prev: before, mood: 'curious' };
    const newer = signVerdict(fields, sample.privateKey);
    before = verdictHash(newer);
    return newer;
  });
  const whole = makeBundle(SESSION, events, verdicts, sample.ring);
  expect(checkBundle(whole, null)).toMatchObject({ state: 'intact', flip: true, problems: [], marks: [] });
  const cut = whole.events.with(1, (whole.events[1] ?? '').replace('curious', 'bored'));
  expect(checkBundle({ ...whole, events: cut }, null)).toMatchObject({ state: 'altered', flip: false });
  const lied = whole.verdicts.with(-1, (whole.verdicts.at(-1) ?? '').replace('curious', 'bored'));
  expect(checkBundle({ ...whole, verdicts: lied }, null)).toMatchObject({ state: 'altered', flip: false });
});

describe('content replaced or held back later', () => {
  const changed = (fields: object) =>
    makeBundle(
      SESSION,
      sample.events.map((event) => (event.seq === 1 ? { ...event, ...fields } : event)),
      sample.verdicts,
      sample.ring,
    );
  const salt = sample.events[1]?.salt ?? '';
  const before = sample.events[1]?.text_digest ?? '';

  test('is told as redacted', () => {
    const redactions = [
      { field: 'text', before, after: saltedDigest(salt, '[REDACTED:x]'), rule: 'x', scanner: 's' },
    ];
    const report = checkBundle(changed({ text_redacted: '[REDACTED:x]', redactions }), null);
    expect(report).toMatchObject({ state: 'redacted', problems: [] });
    expect(report.ranges[1]).toEqual({ chain_id: 'chain-a', from: 1, to: 1, state: 'redacted' });
  });

  test('is told as withheld', () => {
    const report = checkBundle(changed({ text_redacted: null, salt: null, withheld: 'quarantined' }), null);
    expect(report).toMatchObject({ state: 'withheld', problems: [] });
  });

  test('is told as altered when nothing records it', () => {
    expect(checkBundle(changed({ text_redacted: 'another' }), null).state).toBe('altered');
    expect(checkBundle(changed({ withheld: 'erased' }), null).state).toBe('altered');
  });
});

describe('a bundle that was worked on', () => {
  const swap = (i: number, j: number) =>
    bundle.events.with(i, bundle.events[j] ?? '').with(j, bundle.events[i] ?? '');

  test('a removed event is found at its place', () => {
    const change = { events: bundle.events.toSpliced(2, 1) };
    expect(codes(change)).toContain('event_removed');
    expect(at(change)).toContain('seq 3');
    expect(check(change).state).toBe('altered');
  });

  test('a line that is no JSON is told without a piece of it', () => {
    const junk = '{"text_redacted": SECRET}';
    const { problems } = check({ events: [...bundle.events, junk], verdicts: [...bundle.verdicts, junk] });
    const told = problems.filter(({ message }) => message.includes('it stops being JSON at line 1'));
    expect(told.map(({ code }) => code)).toEqual(['event_malformed', 'verdict_altered']);
    expect(JSON.stringify(problems)).not.toContain('SECRET');
  });

  test('a removed last event is found', () => {
    expect(check({ events: bundle.events.slice(0, -1) }).state).toBe('altered');
  });

  test('an altered event is found at its place, header and content alike', () => {
    const header = { events: bundle.events.with(2, (bundle.events[2] ?? '').replace('"Bash"', '"Edit"')) };
    expect(check(header).ranges.filter((range) => range.state === 'altered')).toEqual([
      { chain_id: 'chain-a', from: 2, to: 2, state: 'altered' },
    ]);
    const content = { events: bundle.events.with(1, (bundle.events[1] ?? '').replace('mend', 'bend')) };
    expect(codes(content)).toEqual(['content_altered']);
    expect(at(content)).toBe('chain chain-a, seq 1');
  });

  test('a list that is empty is taken out of no event', () => {
    const line = bundle.events[2] ?? '';
    const change = { events: bundle.events.with(2, line.replace('"redactions":[],', '')) };
    expect(codes(change)).toEqual(['event_not_canonical']);
    expect(check(change).state).toBe('altered');
  });

  test('reordered and added events are found', () => {
    expect(codes({ events: swap(1, 2) })).toContain('event_moved');
    expect(codes({ events: bundle.events.toSpliced(2, 0, bundle.events[2] ?? '') })).toContain('event_added');
  });

  test('a recorded fork is told at its place, and what the head attests stays attested', () => {
    const events = sample.events.flatMap((event) =>
      event.seq === 2 ? [{ ...event, tool_name: 'Edit', fork: true }, event] : [event],
    );
    const report = checkBundle(makeBundle(SESSION, events, sample.verdicts, sample.ring), null);
    expect(report.problems).toMatchObject([
      { code: 'event_added', where: 'events, line 4 (chain chain-a, seq 2)' },
    ]);
    expect(report.ranges.filter((range) => range.state === 'altered')).toHaveLength(1);
  });

  test('a chain written anew after a change no longer reaches the signed head', () => {
    const { events } = sampleSession('/elsewhere');
    expect(codes(makeBundle(SESSION, events, sample.verdicts, sample.ring))).toContain(
      'verdict_head_unknown',
    );
  });

  test('verdicts of another session, without their request, or disagreeing with the baseline are found', () => {
    const signed = (fields: object) => {
      const verdicts = sample.verdicts.map((verdict) =>
        verdict.verdict_id === 'v2' ? signVerdict({ ...verdict, ...fields }, sample.privateKey) : verdict,
      );
      const report = checkBundle(makeBundle(SESSION, sample.events, verdicts, sample.ring), null);
      return { codes: report.problems.map((problem) => problem.code), flip: report.flip };
    };
    expect(signed({ session_id: 'another' })).toMatchObject({
      codes: expect.arrayContaining(['verdict_foreign']),
      flip: false,
    });
    expect(signed({ request_id: 'r9' })).toMatchObject({
      codes: expect.arrayContaining(['verdict_unasked']),
      flip: false,
    });
    expect(signed({ tests_hash: 'e'.repeat(64) })).toMatchObject({
      codes: ['baseline_disagrees'],
      flip: false,
    });
    expect(signed({ runner: 'container' })).toMatchObject({
      codes: ['verdict_refused', 'verdict_missing'],
      flip: false,
    });
  });

  test.prop([fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 })], { numRuns: 250 })(
    'one changed byte anywhere is never reported intact',
    (offset, flip) => {
      const bad = Buffer.from(bytes);
      bad[offset] = (bad[offset] ?? 0) ^ flip;
      expect(stateOf(bad)).not.toBe('intact');
    },
  );

  test.prop([fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 40 })], { numRuns: 150 })(
    'bytes cut out, or put in twice, are never reported intact',
    (from, length) => {
      const cut = Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + length)]);
      const doubled = Buffer.concat([bytes.subarray(0, from + length), bytes.subarray(from)]);
      expect(stateOf(cut)).not.toBe('intact');
      expect(stateOf(doubled)).not.toBe('intact');
    },
  );

  test.prop([fc.shuffledSubarray(bundle.events.map((_, i) => i))])(
    'no other order or choice of lines is intact',
    (order) => {
      const events = order.map((i) => bundle.events[i] ?? '');
      fc.pre(events.join() !== bundle.events.join());
      expect(check({ events }).state).not.toBe('intact');
    },
  );
});

function stateOf(changed: Buffer): string {
  try {
    return checkBundle(parseOneFile(changed, 'x'), null).state;
  } catch {
    return 'unreadable';
  }
}
