import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../schemas/errors.ts';
import { list, openDuck, text } from '../duck.ts';
import { syncFile } from '../sync.ts';
import { ActionLine, OUR_PROTOCOL } from './actions.ts';
import { checkpointPath, lastCheckpointPath, logDir } from './files.ts';
import type { Snapshot } from './version.ts';

/** A checkpoint is written every so many versions, so that opening a table reads no more commits than this. */
export const CHECKPOINT_EVERY = 20;

/** Columns of a checkpoint (Delta protocol, "Checkpoint schema"), as DuckDB reads them from JSON. */
const COLUMNS = `{
  txn: 'STRUCT(appId VARCHAR, "version" BIGINT, lastUpdated BIGINT)',
  add: 'STRUCT(path VARCHAR, partitionValues MAP(VARCHAR, VARCHAR), size BIGINT, modificationTime BIGINT, dataChange BOOLEAN, stats VARCHAR)',
  remove: 'STRUCT(path VARCHAR, deletionTimestamp BIGINT, dataChange BOOLEAN)',
  metaData: 'STRUCT(id VARCHAR, format STRUCT(provider VARCHAR, options MAP(VARCHAR, VARCHAR)), schemaString VARCHAR, partitionColumns VARCHAR[], configuration MAP(VARCHAR, VARCHAR), createdTime BIGINT)',
  protocol: 'STRUCT(minReaderVersion INTEGER, minWriterVersion INTEGER)'
}`;

/**
 * Writes the checkpoint of a version that was committed, and points readers to it. Several writers may do so at
 * once: each writes the same, and the first one's file stays.
 */
export async function writeCheckpoint(dir: string, snapshot: Snapshot): Promise<void> {
  const target = checkpointPath(dir, snapshot.version);
  if (existsSync(target)) return;
  const { metaData } = snapshot;
  const lines: unknown[] = [{ protocol: OUR_PROTOCOL }];
  if (metaData) lines.push({ metaData: { ...metaData, format: { provider: 'parquet', options: {} } } });
  for (const [appId, version] of snapshot.txns) lines.push({ txn: { appId, version } });
  for (const remove of snapshot.removed.values()) lines.push({ remove: { ...remove, dataChange: false } });
  for (const add of snapshot.files.values())
    lines.push({ add: { ...add, partitionValues: {}, dataChange: false } });

  const stem = join(logDir(dir), `.${randomUUID()}`);
  const [json, parquet] = [`${stem}.json.tmp`, `${stem}.parquet.tmp`];
  const duck = await openDuck({ memoryMiB: 256 });
  try {
    writeFileSync(json, lines.map((line) => JSON.stringify(line)).join('\n'));
    await duck.connection.run(
      `COPY (FROM read_json(${text(json)}, format = 'newline_delimited', columns = ${COLUMNS}))
       TO ${text(parquet)} (FORMAT parquet, COMPRESSION zstd)`,
    );
    syncFile(parquet);
    linkSync(parquet, target);
    writeHint(dir, { version: snapshot.version, size: lines.length, sizeInBytes: statSync(parquet).size });
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    duck.close();
    rmSync(json, { force: true });
    rmSync(parquet, { force: true });
  }
}

function writeHint(dir: string, hint: { version: number; size: number; sizeInBytes: number }): void {
  const whole = join(logDir(dir), `.${randomUUID()}.tmp`);
  writeFileSync(whole, JSON.stringify(hint));
  syncFile(whole);
  renameSync(whole, lastCheckpointPath(dir));
  syncFile(logDir(dir));
}

/** The actions in a checkpoint, or null when there is none or it was cut short. */
export async function readCheckpoint(path: string): Promise<ActionLine[] | null> {
  if (!existsSync(path)) return null;
  const duck = await openDuck({ memoryMiB: 256 });
  try {
    const reader = await duck.connection.runAndReadAll(
      `SELECT to_json(t)::VARCHAR AS line FROM read_parquet(${list([path])}) t`,
    );
    return reader.getRowsJson().map(([line]) => ActionLine.parse(JSON.parse(String(line))));
  } catch {
    return null;
  } finally {
    duck.close();
  }
}
