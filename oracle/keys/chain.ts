import { z } from 'zod';
import type { Verdict } from '../../schemas/generated.ts';
import { signVerdict, verdictHash } from '../../schemas/signature.ts';
import type { OracleDb } from '../db.ts';
import { storedReader, toStored } from '../stored.ts';
import type { SigningKey } from './key.ts';

/** A verdict before it has a place in its key's chain. */
export type Unsigned = Omit<Verdict, 'signature' | 'key_id' | 'oracle_seq' | 'oracle_prev'>;

const readVerdict = storedReader('Verdict');
const Last = z.object({ seq: z.number(), hash: z.string() });
const Stored = z.object({ record: z.instanceof(Uint8Array) });

/**
 * Signs a verdict as the next of its key's chain and stores it. Only inside a transaction, so that two processes
 * cannot take one place, and a crash leaves neither a gap nor a verdict that was answered and not stored.
 */
export function appendVerdict(db: OracleDb, key: SigningKey, verdict: Unsigned): Verdict {
  const row = db.sql
    .prepare('select seq, hash from verdicts where key_id = ? order by seq desc limit 1')
    .get(key.key_id);
  const last = row ? Last.parse(row) : null;
  const signed = signVerdict(
    {
      ...verdict,
      key_id: key.key_id,
      oracle_seq: last ? last.seq + 1 : 0,
      oracle_prev: last ? last.hash : null,
    },
    key.privateKey,
  );
  db.sql
    .prepare('insert into verdicts (key_id, seq, verdict_id, hash, record) values (?, ?, ?, ?, ?)')
    .run(key.key_id, signed.oracle_seq, signed.verdict_id, verdictHash(signed), toStored(signed));
  return signed;
}

/** A stored verdict, or null. */
export function findVerdict(db: OracleDb, verdictId: string): Verdict | null {
  const row = db.sql.prepare('select record from verdicts where verdict_id = ?').get(verdictId);
  return row ? readVerdict(Stored.parse(row).record) : null;
}

/** Every verdict of a key, in the order of its chain. */
export function verdictsOf(db: OracleDb, keyId: string): Verdict[] {
  const rows = db.sql.prepare('select record from verdicts where key_id = ? order by seq').all(keyId);
  return rows.map((row) => readVerdict(Stored.parse(row).record));
}
