import type { LoadStates } from '../reduction.ts';
import type { Core } from './core.ts';
import { text } from './rows.ts';

/** The changelog of one partition of a group. `store` only inside a write transaction. */
export function createStates(core: Core, group: number, partition: number) {
  const select = core.db.prepare('SELECT value FROM state WHERE grp = ? AND partition = ? AND key = ?');
  const upsert = core.db.prepare(`
    INSERT INTO state (grp, partition, key, value) VALUES (?, ?, ?, ?)
    ON CONFLICT (grp, partition, key) DO UPDATE SET value = excluded.value`);
  const forget = core.db.prepare('DELETE FROM state WHERE grp = ? AND partition = ? AND key = ?');
  const load: LoadStates = async (keys) => {
    const found = new Map<string, string>();
    for (const key of keys) {
      const row = select.get(group, partition, key);
      if (row) found.set(key, text(row, 'value'));
    }
    return found;
  };
  return {
    load,
    store(states: ReadonlyMap<string, string | null>): void {
      for (const [key, value] of states) {
        if (value === null) forget.run(group, partition, key);
        else upsert.run(group, partition, key, value);
      }
    },
  };
}
