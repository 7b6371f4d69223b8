/**
 * Bytes an event in the warehouse, beside gzip -9 of the same events as JSON Lines: as the sink writes them, and
 * after compaction.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { canonical } from '../schemas/canonical.ts';
import type { TraceEvent } from '../schemas/generated.ts';
import { compact } from '../warehouse/compact.ts';
import { readSnapshot } from '../warehouse/delta/snapshot.ts';
import { addOf, newFileName, openTable } from '../warehouse/delta/table.ts';
import { openParquetWriter } from '../warehouse/parquet.ts';
import { sheetOf } from '../warehouse/sheet.ts';
import { tableColumns, tableDir } from '../warehouse/tables.ts';
import { madeEvents } from './support/sink-events.ts';
import { trajectories } from './support/size-trajectories.ts';

const SHARED = new URL('../../shared/data/trajectories', import.meta.url).pathname;

if (existsSync(SHARED)) {
  const sessions = trajectories(SHARED);
  await measure(`real trajectories, one file a session (${sessions.length})`, sessions);
  await measure('real trajectories, all in one file', [sessions.flat()]);
} else console.log('no real trajectories here: ../shared/data is beside the repository in CI only');
const made = madeEvents();
await measure('made events, files of 5000', [made(5000), made(5000), made(5000), made(5000)]);

async function measure(what: string, files: readonly TraceEvent[][]): Promise<void> {
  const warehouse = mkdtempSync(join(tmpdir(), 'flipstream-size-'));
  const dir = tableDir(warehouse, 'events');
  const table = await openTable(dir, tableColumns('events'), Date.now);
  const writer = await openParquetWriter();
  let offset = 0;
  for (const events of files) {
    const path = newFileName();
    const rows = events.map((event) => [
      ...Object.values(event),
      'log',
      0,
      offset++,
      '2026-01-01T00:00:00.000Z',
    ]);
    const written = await writer.write(join(dir, path), table.columns, sheetOf(table.columns, rows));
    await table.commit(await table.refresh(), {
      operation: 'WRITE',
      adds: [addOf(path, written, Date.now())],
    });
  }
  writer.close();
  const all = files.flat();
  const lines = all.map((event) => `${canonical(event)}\n`).join('');
  const gzip = files.map(
    (events) => gzipSync(events.map((event) => `${canonical(event)}\n`).join(''), { level: 9 }).length,
  );
  const zipped = gzip.reduce((sum, bytes) => sum + bytes, 0);
  const landed = await bytesIn(dir);
  const started = performance.now();
  await compact({ warehouse, clock: Date.now, from: 1 });
  const seconds = (performance.now() - started) / 1000;
  const compacted = await bytesIn(dir);
  const an = (bytes: number) => Math.round(bytes / all.length);
  console.log(`${what}: ${all.length} events of ${an(lines.length)} bytes (JSON Lines)`);
  console.log(
    `  gzip -9 ${an(zipped)}; landed ${an(landed)} (${(landed / zipped).toFixed(2)}); compacted ${an(compacted)} (${(compacted / zipped).toFixed(2)}), ${(all.length / seconds).toFixed(0)} events/s`,
  );
  rmSync(warehouse, { recursive: true, force: true });
}

async function bytesIn(dir: string): Promise<number> {
  const { files } = await readSnapshot(dir);
  return [...files.values()].reduce((sum, { size }) => sum + size, 0);
}
