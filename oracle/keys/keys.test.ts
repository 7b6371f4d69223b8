import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type KeyRing, rejectionOf, signVerdict, verdictHash } from '../../schemas/signature.ts';
import type { Oracle } from '../oracle.ts';
import { taskAdd } from '../tasks/add.ts';
import { taskCheck } from '../tasks/check.ts';
import { readyTask, taskRow } from '../tasks/rows.ts';
import { uncheckTasksOf } from '../tasks/state.ts';
import { fakeRunner, makeOracle, makeRepository, runResult, taskDirectory } from '../testing.ts';
import { appendVerdict, verdictsOf } from './chain.ts';
import { allow, exportKeyRing, revokeKey, rotateKey } from './ring.ts';

const TASK = 'demo-split-bill';

async function signed(verdicts: number) {
  const oracle = makeOracle({ runner: fakeRunner(() => runResult(0, 1)) });
  await taskAdd(oracle, taskDirectory(makeRepository()));
  await taskCheck(oracle, TASK);
  const [baseline] = verdictsOf(oracle.db, oracle.key.key_id);
  if (!baseline) throw new Error('no baseline');
  for (let at = 1; at < verdicts; at++)
    appendVerdict(oracle.db, oracle.key, { ...baseline, verdict_id: `v${at}`, mode: 'grade' });
  return { oracle, chain: verdictsOf(oracle.db, oracle.key.key_id) };
}

const again = (oracle: Oracle) => makeOracle({ runner: fakeRunner(), root: oracle.home.root });
const rejections = (chain: Parameters<typeof rejectionOf>[0][], ring: KeyRing) =>
  chain.map((verdict) => rejectionOf(verdict, ring));

test('after a rotation both keys count, the old private key is gone, and the new chain begins at 0', async () => {
  const { oracle, chain } = await signed(3);
  const before = readFileSync(join(oracle.home.keys, 'process.key'), 'utf8');
  const ring = rotateKey(oracle.home, 'process');
  const next = again(oracle);
  expect(next.key.key_id).not.toBe(oracle.key.key_id);
  expect(ring.keys.map(({ key_id }) => key_id)).toEqual([oracle.key.key_id, next.key.key_id]);
  expect(readFileSync(join(oracle.home.keys, 'process.key'), 'utf8')).not.toBe(before);
  const [first] = chain;
  if (!first) throw new Error('nothing signed');
  const verdict = appendVerdict(next.db, next.key, { ...first, verdict_id: 'new' });
  expect(verdict).toMatchObject({ oracle_seq: 0, oracle_prev: null });
  expect(rejections([...chain, verdict], ring)).toEqual([null, null, null, null]);
  expect(exportKeyRing(next.home, 'process')).toEqual(ring);
});

test('of a key that was taken back only the verdicts up to one count, and no other past signed with it', async () => {
  const { oracle, chain } = await signed(5);
  rotateKey(oracle.home, 'process');
  const ring = revokeKey(oracle.home, 'process', oracle.db, oracle.key.key_id, 2);
  expect(rejections(chain, ring)).toEqual([null, null, null, 'revoked', 'revoked']);
  const [, second] = chain;
  if (!second) throw new Error('nothing signed');
  // Whoever holds the key may date a verdict back, and claim any place.
  const forged = {
    ...second,
    verdict: 'PASS',
    verdict_id: 'forged',
    released_at: '2001-01-01T00:00:00.000Z',
  };
  const { signature: _, ...unsigned } = forged;
  for (const oracle_seq of [0, 1, 2, 3])
    expect(rejectionOf(signVerdict({ ...unsigned, oracle_seq }, oracle.key.privateKey), ring)).toBe(
      'revoked',
    );
  const none = revokeKey(oracle.home, 'process', oracle.db, oracle.key.key_id, -1);
  expect(new Set(rejections(chain, none))).toEqual(new Set(['revoked']));
});

test('a revocation of an earlier release, without hashes, goes on to mean what it meant', async () => {
  const { oracle, chain } = await signed(4);
  const [key] = exportKeyRing(oracle.home, 'process').keys;
  const hash = chain[1] ? verdictHash(chain[1]) : '';
  if (!key) throw new Error('no key');
  const ring: KeyRing = { v: 1, keys: [{ ...key, revoked_after: { seq: 1, hash } }] };
  expect(rejections(chain, ring)).toEqual([null, null, 'revoked', 'revoked']);
});

test('the key in use, an unknown one, and a number that was never signed are refused in words', async () => {
  const { oracle } = await signed(2);
  const revoke = (id: string, seq: number) => revokeKey(oracle.home, 'process', oracle.db, id, seq);
  expect(() => revoke(oracle.key.key_id, 0)).toThrow(/oracle key rotate/);
  expect(() => revoke('process-none', 0)).toThrow(/never had a key/);
  rotateKey(oracle.home, 'process');
  expect(() => revoke(oracle.key.key_id, 7)).toThrow(/has signed 2 verdicts/);
});

test('a task whose baseline went with its key has to be checked again', async () => {
  const { oracle } = await signed(2);
  rotateKey(oracle.home, 'process');
  expect(uncheckTasksOf(oracle, oracle.key.key_id, 0)).toEqual([]);
  expect(readyTask(oracle, TASK)).not.toBeNull();
  expect(uncheckTasksOf(oracle, oracle.key.key_id, -1)).toEqual([TASK]);
  expect(readyTask(oracle, TASK)).toBeNull();
  expect(taskRow(oracle.db, TASK)?.reason).toMatch(/key that was taken back/);
});

test('a key claims no more than its entry allows: separate_host only when the operator said so', async () => {
  const { oracle, chain } = await signed(1);
  const elsewhere = chain.map(({ signature: _, ...verdict }) =>
    signVerdict({ ...verdict, placement: 'separate_host' }, oracle.key.privateKey),
  );
  const narrow = exportKeyRing(oracle.home, 'process');
  expect(rejections(elsewhere, narrow)).toEqual(['placement_not_allowed']);
  const wide = allow(oracle.home, 'process', ['same_host', 'separate_host']);
  expect(rejections(elsewhere, wide)).toEqual([null]);
  expect(rotateKey(oracle.home, 'process').keys.at(-1)?.placements).toEqual(['same_host', 'separate_host']);
});

test('a ring or key that others may open is refused', async () => {
  const { oracle } = await signed(1);
  rotateKey(oracle.home, 'process');
  for (const path of [oracle.home.ring, oracle.home.storeKey]) {
    chmodSync(path, 0o604);
    expect(() => again(oracle)).toThrow(/chmod go=/);
    chmodSync(path, 0o600);
  }
  again(oracle);
});
