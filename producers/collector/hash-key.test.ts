import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { openDb } from './db.ts';
import { pinnedHashKey } from './hash-key.ts';
import { temporaryHome } from './testing.ts';

test('a key that was lost or exchanged is told of at every start, until the first one is back', () => {
  const { home, remove } = temporaryHome();
  onTestFinished(remove);
  const start = () => {
    const said: string[] = [];
    const db = openDb(home.collectorDb);
    try {
      return { key: pinnedHashKey(db, home, (message) => said.push(message)), said };
    } finally {
      db.close();
    }
  };
  const first = start();
  expect([first, start()]).toEqual([{ key: first.key, said: [] }, first]);
  writeFileSync(home.hashKey, randomBytes(32));
  for (const { said } of [start(), start()]) expect(said).toEqual([expect.stringContaining(home.hashKey)]);
  writeFileSync(home.hashKey, first.key);
  expect(start()).toEqual(first);
});
