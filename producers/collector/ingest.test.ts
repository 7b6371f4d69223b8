import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sha256 } from '../../schemas/hash.ts';
import { openDb } from './db.ts';
import { createIngest } from './ingest.ts';
import { createOutbox } from './outbox.ts';
import { openSpool } from './spool-files.ts';
import { createStore } from './store.ts';
import { entry, spool, T0, temporaryHome, told } from './testing.ts';

test('an entry that is gone when it is read was worked in before, and is nobody’s fault', async () => {
  const { home, remove } = temporaryHome();
  const db = openDb(home.collectorDb);
  try {
    spool(home, entry(told.prompt('one')), entry(told.prompt('two')));
    const files = openSpool(home);
    const warnings: string[] = [];
    const ingest = createIngest({
      ...{
        store: createStore(db),
        outbox: createOutbox(db),
        capture: 'same_user',
        clock: () => T0,
        limit: 100,
      },
      identity: { home_id: 'home', host_id: 'host' },
      keyedHash: sha256,
      redact: (text) => ({ text, hits: 0 }),
      spool: {
        ...files,
        list: () => {
          const names = files.list();
          rmSync(join(files.directory, names[0] ?? ''));
          return names;
        },
      },
      batch: 10,
      warn: (message) => void warnings.push(message),
      deafUntil: null,
    });
    await ingest.all();
    expect(ingest.counters).toEqual({ entries: 1, unreadable: 0 });
    expect(warnings).toEqual([]);
  } finally {
    db.close();
    remove();
  }
});
