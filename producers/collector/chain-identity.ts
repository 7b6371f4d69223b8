import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import type { Home } from '../home.ts';
import { type HomeIdentity, loadIdentity } from '../identity-files.ts';

/**
 * Who captures here, and the chain it writes: the home's own, until collector.db is lost. A new one beside old
 * traces knows no chain's end, so it begins chains of another id: two chains of a session are no error, two
 * events at one place of a chain are.
 */
export function chainIdentity(db: DatabaseSync, home: Home): HomeIdentity {
  const identity = loadIdentity(home);
  const kept = db.prepare("select value from meta where name = 'chain_id'").get()?.value;
  if (typeof kept === 'string') return { ...identity, home_id: kept };
  const chain = hasTraces(home) ? randomBytes(16).toString('hex') : identity.home_id;
  db.prepare("insert into meta (name, value) values ('chain_id', ?)").run(chain);
  return { ...identity, home_id: chain };
}

function hasTraces(home: Home): boolean {
  try {
    return readdirSync(home.traces).length > 0;
  } catch {
    return false;
  }
}
