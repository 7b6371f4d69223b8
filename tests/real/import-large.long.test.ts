/** Issue 6, "What bad input gets": a file of 2 GB streams by, in a heap that could not hold a tenth of it. */
import { execFile } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

const IMPORT = fileURLToPath(new URL('../support/import-process.ts', import.meta.url));
const MIB = 2 ** 20;
const HEAP_MIB = 128;
const ROWS = 512;
const BLOCKS = 64;
const Ran = z.object({
  published: z.number(),
  resident: z.array(z.number()),
  report: z.looseObject({
    reasons: z.record(z.string(), z.number()),
    formats: z.object({ 'claude-code': z.looseObject({ bytes: z.number(), read: z.number() }) }),
  }),
});

/** Rows of 64 KiB; what a block tells, every other tells again. */
function write(path: string): void {
  const row = (n: number) =>
    JSON.stringify({
      ...{ uuid: `u${n}`, sessionId: 's1', timestamp: '2026-01-01T00:00:00.000Z', type: 'user' },
      message: { role: 'user', content: `${n} ${'word '.repeat(13_068)}` },
    });
  const block = Buffer.from(Array.from({ length: ROWS }, (_, n) => `${row(n)}\n`).join(''));
  const file = openSync(path, 'w');
  for (let n = 0; n < BLOCKS; n++) writeSync(file, block);
  closeSync(file);
}

test('a file of 2 GB is streamed in flat memory', async () => {
  const root = mkdtempSync(join(tmpdir(), 'flipstream-large-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const path = join(root, 'large.jsonl');
  write(path);
  const argv = [`--max-old-space-size=${HEAP_MIB}`, IMPORT, join(root, 'home'), path];
  const { stdout } = await promisify(execFile)(process.execPath, argv, { maxBuffer: 64 * MIB });
  const { published, resident, report } = Ran.parse(JSON.parse(stdout));
  expect(report.reasons).toEqual({});
  expect(report.formats['claude-code'].bytes).toBeGreaterThan(2000 * MIB);
  expect(report.formats['claude-code'].read).toBe(ROWS * BLOCKS);
  expect(published).toBe(ROWS + 2); // and a beginning and an end
  expect(Math.max(...resident) / MIB).toBeLessThan(4 * HEAP_MIB);
});
