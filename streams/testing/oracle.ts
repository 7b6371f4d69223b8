/** A stand-in for the oracle's signing side, with a real Ed25519 key, for tests of whatever reads verdicts. */
import { generateKeyPairSync } from 'node:crypto';
import type { Verdict } from '../../schemas/generated.ts';
import { type KeyRing, signVerdict, verdictHash } from '../../schemas/signature.ts';

export interface TestTask {
  task_id: string;
  base_commit: string;
  tests_hash: string;
  image: string | null;
  family: string | null;
}

export const TASK: TestTask = {
  task_id: 'task-1',
  base_commit: 'b'.repeat(40),
  tests_hash: 'c'.repeat(64),
  image: null,
  family: 'parsers',
};

export interface TestOracle {
  keyId: string;
  /** A key ring with this key alone. */
  ring: KeyRing;
  /** Signs a record, its place in the key's chain filled in. */
  sign(fields: Partial<Verdict>, task?: TestTask): Verdict;
  baseline(task?: TestTask): Verdict;
}

export interface TestKey {
  runner?: 'process' | 'container' | 'vm';
  placement?: 'same_host' | 'separate_host';
  keyId?: string;
}

export function createTestOracle({
  runner = 'process',
  placement = 'same_host',
  keyId = `key-${runner}`,
}: TestKey = {}): TestOracle {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const public_key = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  let seq = 0;
  let prev: string | null = null;

  function sign(fields: Partial<Verdict>, task: TestTask = TASK): Verdict {
    const { family, ...agreed } = task;
    const signed = signVerdict(
      {
        v: 1,
        verdict_id: `${keyId}-${seq}`,
        request_id: null,
        requester: 'host-1',
        session_id: null,
        chain_id: null,
        head: null,
        attempt: null,
        ...agreed,
        task_family: family,
        task_split: 'train',
        mode: 'grade',
        verdict: 'FAIL',
        diff_hash: null,
        runner,
        placement,
        evidence: 'in_process',
        oracle_host: 'oracle-1',
        oracle_version: '0.0.0',
        released_at: new Date(Date.UTC(2026, 5, 1) + seq * 1000).toISOString(),
        key_id: keyId,
        oracle_seq: seq,
        oracle_prev: prev,
        cached_from: null,
        retracts: null,
        ...fields,
      },
      privateKey,
    );
    prev = verdictHash(signed);
    seq++;
    return signed;
  }

  return {
    keyId,
    ring: {
      v: 1,
      keys: [{ key_id: keyId, public_key, runners: [runner], placements: [placement] }],
    },
    sign,
    baseline: (task = TASK) => sign({ mode: 'baseline', attempt: 0, verdict: 'FAIL' }, task),
  };
}
