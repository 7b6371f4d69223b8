/** What a bundle says twice, or at odds with itself, where no hash or signature covers it. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { canonical } from '../../schemas/canonical.ts';
import type { TraceEvent } from '../../schemas/generated.ts';
import { saltedDigest, sha256 } from '../../schemas/hash.ts';
import { type KeyRing, signVerdict } from '../../schemas/signature.ts';
import { pass } from '../../streams/redact/redact.ts';
import { makeBundle } from './bundle.ts';
import { checkBundle } from './check.ts';
import { SESSION, sampleSession } from './testing.ts';

const sample = sampleSession();
const { events, verdicts, ring } = sample;
const bundle = makeBundle(SESSION, events, verdicts, ring);

describe('an event\u2019s content', () => {
  const withEvent = (seq: number, fields: Partial<TraceEvent>) =>
    checkBundle(
      makeBundle(
        SESSION,
        events.map((event) => (event.seq === seq ? { ...event, ...fields } : event)),
        verdicts,
        ring,
      ),
      null,
    );
  const salt = events[1]?.salt ?? '';
  const digest = events[1]?.text_digest ?? '';
  const step = (before: string, after: string, field = 'text') => ({
    field,
    before,
    after,
    rule: 'x',
    scanner: 's',
  });
  const after = saltedDigest(salt, '[REDACTED:x]');
  const redacted = { text_redacted: '[REDACTED:x]', redactions: [step(digest, after)] };
  const withheld = { text_redacted: null, salt: null, withheld: 'quarantined' };

  test.each<[string, number, Partial<TraceEvent>]>([
    ['a salt, and no content', 0, { salt: 'ff'.repeat(16) }],
    ['a salt of content that is withheld', 1, { ...withheld, salt }],
    ['content that is here and said to be withheld', 1, { ...redacted, withheld: 'erased' }],
    ['a redaction of a field that it has not', 1, { redactions: [step(digest, after, 'output')] }],
    [
      'one more than its content bears out',
      1,
      { ...redacted, redactions: [step(digest, after), step(digest, after, 'input')] },
    ],
    ['one that names no field', 1, { ...redacted, redactions: [step(digest, after), step('', '', 'nose')] }],
    ['one that replaced nothing', 1, { ...redacted, redactions: [step(digest, after), step(after, after)] }],
    ['one that begins elsewhere, of withheld content', 1, { ...withheld, redactions: [step(after, digest)] }],
    ['one that leads back', 1, { redactions: [step(digest, after), step(after, digest)] }],
  ])('%s is altered, and its place is told', (_, seq, fields) => {
    const report = withEvent(seq, fields);
    expect(report.problems).toMatchObject([{ code: 'content_altered', where: `chain chain-a, seq ${seq}` }]);
    expect(report).toMatchObject({ state: 'altered', flip: false });
  });

  test('withheld after it was redacted is withheld', () => {
    const report = withEvent(1, { ...withheld, redactions: [step(digest, after)] });
    expect(report).toMatchObject({ state: 'withheld', problems: [] });
  });

  test('that could not be scanned is withheld, also of an event that has none', () => {
    for (const seq of [0, 1]) {
      const event = events[seq];
      if (!event) throw new Error('no event');
      const [out] = pass(event, { found: 'unscanned', why: 'timeout' });
      if (out?.topic !== 'trace.events') throw new Error('no event came out');
      expect(withEvent(seq, out.value)).toMatchObject({ state: 'withheld', problems: [] });
    }
  });
});

describe('the manifest', () => {
  const manifest = JSON.parse(bundle.manifest);
  const [chain] = manifest.chains;
  test.each([
    ['the same chain twice', [chain, chain]],
    ['a chain twice, the second time otherwise', [chain, { ...chain, events: 3 }]],
  ])('names %s: refused by name', (_, chains) => {
    const report = checkBundle({ ...bundle, manifest: canonical({ ...manifest, chains }) }, null);
    expect(report.state).toBe('altered');
    expect(report.problems).toEqual([
      {
        code: 'bundle_altered',
        where: 'manifest',
        message: 'It names chain chain-a twice or out of order.',
      },
    ]);
  });
});

describe('a key ring', () => {
  const [key] = ring.keys;
  if (!key) throw new Error('no key');
  const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
  const faulty: [string, KeyRing['keys'], RegExp][] = [
    ['the same key twice', [key, key], /names the key key-1 twice/],
    ['two keys by one name', [key, { ...key, public_key: other }], /names the key key-1 twice/],
    ['one key by two names', [key, { ...key, key_id: 'key-2' }], /one key twice, as key-1 and as key-2/],
    ['what is no key', [key, { ...key, key_id: 'key-2', public_key: 'x' }], /key key-2 is no Ed25519/],
    [
      'a key of another kind',
      [key, { ...key, key_id: 'key-2', public_key: rsa.export({ type: 'spki', format: 'pem' }).toString() }],
      /key key-2 is no Ed25519/,
    ],
  ];

  /** The ring in the bundle, with a manifest that fits. */
  const withRing = (text: string) => {
    const manifest = canonical({ ...JSON.parse(bundle.manifest), key_ring: sha256(text) });
    return checkBundle({ ...bundle, manifest, keyRing: text }, null);
  };

  test.each(faulty)(
    'of the bundle that names %s is refused, and none of its keys counts',
    (_, keys, said) => {
      const report = withRing(canonical({ v: 1, keys }));
      expect(report.problems[0]).toMatchObject({ code: 'bundle_altered', where: 'key ring' });
      expect(report.problems[0]?.message).toMatch(said);
      expect(report).toMatchObject({ state: 'altered', flip: false });
    },
  );

  test.each(faulty)('that is given and names %s is refused', (_, keys, said) => {
    expect(() => checkBundle(bundle, { v: 1, keys })).toThrow(
      expect.objectContaining({ code: 'key_ring_invalid', message: expect.stringMatching(said) }),
    );
  });

  test('out of which the placements were taken is not what session export writes', () => {
    const { placements: _, ...bare } = key;
    const report = withRing(canonical({ v: 1, keys: [bare] }));
    expect(report.problems[0]).toMatchObject({ code: 'bundle_altered', where: 'key ring' });
    expect(report.state).toBe('altered');
  });
});

test('two verdicts that one key signed as the same number are told', () => {
  const [base] = verdicts;
  if (!base) throw new Error('no baseline');
  const again = signVerdict(
    { ...base, verdict_id: 'v0-again', evidence: 'out_of_process' },
    sample.privateKey,
  );
  const report = checkBundle(makeBundle(SESSION, events, [...verdicts, again], ring), null);
  expect(report.problems.map(({ code }) => code)).toContain('verdict_altered');
  expect(
    report.problems.find(({ message }) => /as its number 0; the other is v0-again/.test(message)),
  ).toBeTruthy();
});

test('a claim that names no request is answered by no verdict, least of all by the baseline', () => {
  const [first, ...rest] = makeBundle(
    SESSION,
    events.map((event) => (event.seq === 7 ? { ...event, request_id: null, verdict: 'FAIL' } : event)),
    verdicts,
    ring,
  ).events.toReversed();
  expect(rest[0]).toContain('"verdict":"FAIL"');
  const report = checkBundle({ ...bundle, events: [...rest.toReversed(), first ?? ''] }, null);
  expect(report.problems.map(({ code }) => code)).toContain('verdict_missing');
});

test('a fork of the last event is told at its place, and the last event is not', () => {
  const last = events.at(-1);
  if (!last) throw new Error('no event');
  const forked = makeBundle(SESSION, [...events, { ...last, reason: 'clear', fork: true }], verdicts, ring);
  const report = checkBundle(forked, null);
  expect(report.problems).toMatchObject([
    { code: 'event_added', where: 'events, line 10 (chain chain-a, seq 8)' },
  ]);
});
