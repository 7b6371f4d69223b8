import type { DatabaseSync } from 'node:sqlite';
import { sha256 } from '../../schemas/hash.ts';
import type { Home } from '../home.ts';
import { loadHashKey } from '../identity-files.ts';

/**
 * The home's key for keyed hashes. The first one is remembered by its own hash; another one works as well, but
 * the same content then has another hash than before, and that is told at every start.
 * @throws FlipstreamError `home_damaged` (fatal): the file is not a key
 */
export function pinnedHashKey(
  db: DatabaseSync,
  home: Home,
  warn: (message: string, fields: Record<string, unknown>) => void,
): Buffer {
  const key = loadHashKey(home);
  const print = sha256(key);
  db.prepare("insert into meta (name, value) values ('hash_key', ?) on conflict do nothing").run(print);
  const { value } = db.prepare("select value from meta where name = 'hash_key'").get() ?? {};
  if (value !== print)
    warn(
      `${home.hashKey} is not the key that earlier events were hashed with: the same content has other hashes (text_hash, output_hash …) from now on. Restore the file from a backup if there is one.`,
      {},
    );
  return key;
}
