import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sha256 } from '../../schemas/hash.ts';
import { TOPICS } from '../../schemas/topics.ts';
import type { Rig } from '../conformance/rig.ts';
import { createAppend } from './append.ts';
import { openCatalog } from './catalog.ts';
import { type EmbeddedLog, type EmbeddedOptions, openEmbeddedLog } from './open.ts';
import { createTransact } from './transact.ts';

const DAY_MS = 86_400_000;
const MASK = 0x5a;

/** Not encryption: enough for a test to see that the bytes went through the hook. */
export const mask = (bytes: Buffer): Buffer => Buffer.from(bytes.map((byte) => byte ^ MASK));

export interface EmbeddedRig extends Rig {
  dir: string;
  path: string;
  open(options?: Partial<EmbeddedOptions>): Promise<EmbeddedLog>;
  /** Moves the clock of every log of the rig. */
  advance(ms: number): void;
}

/** A log in a temporary directory, with a clock of its own. */
export async function embeddedRig(): Promise<EmbeddedRig> {
  const dir = mkdtempSync(join(tmpdir(), 'flipstream-log-'));
  const path = join(dir, 'log.db');
  const opened: EmbeddedLog[] = [];
  let now = Date.parse('2026-01-01T00:00:00.000Z');
  const clock = () => now;

  const rig: EmbeddedRig = {
    dir,
    path,
    async open(options = {}) {
      const log = await openEmbeddedLog({
        dir,
        clock,
        seal: async (bytes) => mask(bytes),
        maintainEveryMs: null,
        warn: () => {},
        ...options,
      });
      opened.push(log);
      return log;
    },
    async inject(topic, key, value) {
      const db = new DatabaseSync(path);
      const transact = createTransact(db, path);
      const append = createAppend(db, await openCatalog(db, transact), clock);
      await transact(() => append([{ topic, key, value }]));
      db.close();
    },
    async register(topic, schema) {
      const db = new DatabaseSync(path);
      const added = db
        .prepare('INSERT INTO schema (name, hash, text) VALUES (?, ?, ?)')
        .run(TOPICS[topic].schema, sha256(schema), schema);
      db.close();
      return Number(added.lastInsertRowid);
    },
    async age(days) {
      now += days * DAY_MS;
      const log = await rig.open();
      await log.maintain();
      await log.close();
    },
    advance: (ms) => {
      now += ms;
    },
    unseal: mask,
    async close() {
      await Promise.all(opened.map((log) => log.close()));
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return rig;
}
