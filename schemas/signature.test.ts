import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Verdict } from './generated.ts';
import { KeyRing, rejectionOf, signVerdict, verdictHash } from './signature.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const ring = KeyRing.parse({
  v: 1,
  keys: [
    { key_id: 'k', public_key: publicKey.export({ type: 'spki', format: 'pem' }), runners: ['process'] },
  ],
});
const verdict: Verdict = signVerdict(
  {
    v: 1,
    verdict_id: 'v',
    request_id: 'r',
    requester: 'p',
    session_id: 's',
    chain_id: 'c',
    head: 'h',
    attempt: 1,
    task_id: 't',
    task_family: null,
    task_split: null,
    mode: 'grade',
    verdict: 'PASS',
    base_commit: 'b',
    tests_hash: 'th',
    diff_hash: 'd',
    image: null,
    runner: 'process',
    placement: 'same_host',
    evidence: 'in_process',
    oracle_host: 'o',
    oracle_version: '0',
    released_at: '2026-01-01T00:00:00.000Z',
    key_id: 'k',
    oracle_seq: 3,
    oracle_prev: null,
    cached_from: null,
    retracts: null,
  },
  privateKey,
);

describe('a verdict', () => {
  test('counts under a key of the ring', () => {
    expect(rejectionOf(verdict, ring)).toBeNull();
  });

  test('does not count with any one field changed', () => {
    for (const name of Object.keys(verdict) as (keyof Verdict)[]) {
      const value = verdict[name];
      const changed = { ...verdict, [name]: typeof value === 'number' ? value + 1 : `${value}x` };
      expect(rejectionOf(changed, ring), name).not.toBeNull();
    }
  });

  test('does not count when it claims more than its key may', () => {
    expect(rejectionOf(signVerdict({ ...verdict, runner: 'container' }, privateKey), ring)).toBe(
      'runner_not_allowed',
    );
    expect(rejectionOf(signVerdict({ ...verdict, placement: 'separate_host' }, privateKey), ring)).toBe(
      'placement_not_allowed',
    );
  });

  test('does not count after its key was revoked, whatever time it claims', () => {
    const revoked = (seq: number, hash: string) =>
      KeyRing.parse({ ...ring, keys: ring.keys.map((k) => ({ ...k, revoked_after: { seq, hash } })) });
    expect(rejectionOf(verdict, revoked(2, 'x'))).toBe('revoked');
    expect(rejectionOf(verdict, revoked(3, 'another record'))).toBe('revoked');
    expect(rejectionOf(verdict, revoked(3, verdictHash(verdict)))).toBeNull();
  });
});
