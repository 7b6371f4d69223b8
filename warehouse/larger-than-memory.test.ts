import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openReader } from './query.ts';

const ROWS = 40_000;
const MEMORY_MIB = 20;
/** Twice the memory, and not to be compressed. */
const WIDE = `SELECT range AS n, ${Array.from({ length: 32 }, (_, at) => `md5((range * 32 + ${at})::VARCHAR)`).join(' || ')} AS content FROM range(${ROWS})`;

test('more rows than fit into memory are streamed whole, and what they took on the disk is gone afterwards', async () => {
  const warehouse = mkdtempSync(join(tmpdir(), 'flipstream-warehouse-'));
  onTestFinished(() => rmSync(warehouse, { recursive: true }));
  const reader = await openReader(warehouse, { memoryMiB: MEMORY_MIB, threads: 1 });
  const ours = () => readdirSync(tmpdir()).filter((name) => name.startsWith('flipstream-spill-'));
  const { total, rows } = await reader.stream(WIDE);
  let seen = 0;
  for await (const chunk of rows) seen += chunk.length;
  expect({ total, seen }).toEqual({ total: ROWS, seen: ROWS });
  const during = ours();
  reader.close();
  expect(during.filter((name) => !ours().includes(name)).length).toBeGreaterThan(0);
});
