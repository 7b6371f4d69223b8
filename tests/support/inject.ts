import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createAppend } from '../../log/embedded/append.ts';
import { openCatalog } from '../../log/embedded/catalog.ts';
import { createTransact } from '../../log/embedded/transact.ts';
import type { Clock } from '../../schemas/time.ts';
import type { TopicName } from '../../schemas/topics.ts';

/** Puts bytes into a topic of the embedded log in `dir` as if a producer of another make had written them. */
export async function inject(
  dir: string,
  topic: TopicName,
  key: string,
  value: Buffer,
  clock: Clock = Date.now,
): Promise<void> {
  const path = join(dir, 'log.db');
  const db = new DatabaseSync(path, { timeout: 5_000 });
  try {
    const transact = createTransact(db, path);
    const append = createAppend(db, await openCatalog(db, transact), clock);
    await transact(() => append([{ topic, key, value }]));
  } finally {
    db.close();
  }
}
