import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDb } from './db.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'collector-db-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('its files are their owner’s alone, also in a folder that others can open', () => {
  chmodSync(folder, 0o755);
  const path = join(folder, 'collector.db');
  const db = openDb(path);
  for (const file of [path, `${path}-wal`]) expect(statSync(file).mode & 0o777, file).toBe(0o600);
  db.close();
  expect(() => openDb(path).close()).not.toThrow();
});

test('a place where no file can be made is told as one', () => {
  expect(() => openDb(folder)).toThrow(expect.objectContaining({ code: 'collector_db_unusable' }));
});
