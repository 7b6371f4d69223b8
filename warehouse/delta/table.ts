import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { Clock } from '../../schemas/time.ts';
import type { Column } from '../columns.ts';
import { deltaSchema } from '../columns.ts';
import { type Add, type Commit, commitText, type Metadata, OUR_PROTOCOL } from './actions.ts';
import { CHECKPOINT_EVERY, writeCheckpoint } from './checkpoint.ts';
import { tryCommit } from './files.ts';
import { readSnapshot } from './snapshot.ts';
import { KEEP_MS } from './vacuum.ts';
import type { Snapshot } from './version.ts';

/** One Delta table and what this process last knew of it. */
export interface Table {
  readonly dir: string;
  readonly columns: readonly Column[];
  /** The newest version; what was known before saves reading it all again. */
  refresh(): Promise<Snapshot>;
  /**
   * Commits on top of `base`.
   * @returns the new snapshot, or null when another writer was first: refresh, think again, try again.
   */
  commit(base: Snapshot, commit: Commit): Promise<Snapshot | null>;
}

/**
 * Makes the table if it does not exist, and adds to its schema the columns that this release brought.
 * @throws FlipstreamError `table_newer`, `table_schema_differs`, `delta_too_new` (fatal), also later, when another release changes it
 */
export async function openTable(dir: string, columns: readonly Column[], clock: Clock): Promise<Table> {
  let known = await readSnapshot(dir);
  const table: Table = {
    dir,
    columns,
    async refresh() {
      known = await readSnapshot(dir, { from: known });
      refuseNewer(dir, known, columns);
      refuseProtocol(dir, known);
      return known;
    },
    async commit(base, commit) {
      const version = base.version + 1;
      if (!tryCommit(dir, version, commitText(commit, clock()))) return null;
      known = await readSnapshot(dir, { from: base, version });
      if (version > 0 && version % CHECKPOINT_EVERY === 0) {
        known = withoutOld(known, clock());
        // Readers are slower without it and no worse; the version is committed whatever happens here.
        await writeCheckpoint(dir, known).catch(() => {});
      }
      return known;
    },
  };
  await settleSchema(table, clock);
  return table;
}

/** Forgets the removals that no reader can still be interested in. */
function withoutOld(snapshot: Snapshot, now: number): Snapshot {
  const recent = [...snapshot.removed].filter(
    ([, { deletionTimestamp }]) => now - (deletionTimestamp ?? 0) <= KEEP_MS,
  );
  return { ...snapshot, removed: new Map(recent) };
}

async function settleSchema(table: Table, clock: Clock): Promise<void> {
  const wanted = deltaSchema(table.columns);
  for (;;) {
    const now = await table.refresh();
    const current = now.metaData?.schemaString;
    if (current === wanted || (current !== undefined && isWhole(current, wanted))) return;
    const metaData: Metadata = now.metaData
      ? { ...now.metaData, schemaString: merged(now.metaData.schemaString, wanted) }
      : {
          id: randomUUID(),
          format: { provider: 'parquet' },
          schemaString: wanted,
          partitionColumns: [],
          configuration: {},
          createdTime: clock(),
        };
    const operation = now.metaData ? 'CHANGE SCHEMA' : 'CREATE TABLE';
    if (await table.commit(now, { operation, metaData, first: now.version === -1 })) return;
  }
}

/**
 * Whoever merges or replaces rows without knowing all of their columns empties the others.
 * @throws FlipstreamError `table_newer` (fatal)
 */
export function refuseNewer(dir: string, { metaData }: Snapshot, columns: readonly Column[]): void {
  if (!metaData) return;
  const known = new Set(columns.map(({ name }) => name));
  const newer = [...fieldsOf(metaData.schemaString).keys()].filter((name) => !known.has(name));
  if (newer.length === 0) return;
  const message = `${dir} has columns of a newer release (${newer.join(', ')}): use that release, or a copy from before it`;
  throw new FlipstreamError('table_newer', 'fatal', message);
}

/** Another program may have switched on what every writer has to keep from then on: constraints, a change feed. */
function refuseProtocol(dir: string, { minWriterVersion: asked }: Snapshot): void {
  const { minWriterVersion: ours } = OUR_PROTOCOL;
  if (asked <= ours) return;
  const message = `${dir} asks of its writers what Delta calls version ${asked}; this release writes ${ours}: another program changed the table, and it can only be read here now`;
  throw new FlipstreamError('delta_too_new', 'fatal', message);
}

/**
 * Whether the table has all of our columns.
 * @throws FlipstreamError `table_schema_differs` (fatal) when one has another type.
 */
function isWhole(current: string, wanted: string): boolean {
  const have = fieldsOf(current);
  const want = fieldsOf(wanted);
  for (const [field, type] of have) {
    const ours = want.get(field);
    if (ours !== undefined && ours !== type) {
      throw new FlipstreamError(
        'table_schema_differs',
        'fatal',
        `column ${field} has another type in the table than in this release: use the release that wrote it`,
      );
    }
  }
  return [...want.keys()].every((field) => have.has(field));
}

const Struct = z.object({
  type: z.literal('struct'),
  fields: z.array(z.looseObject({ name: z.string(), type: z.unknown() })),
});

function fieldsOf(schemaString: string): Map<string, string> {
  const { fields } = Struct.parse(JSON.parse(schemaString));
  return new Map(fields.map(({ name, type }) => [name, JSON.stringify(type)]));
}

/** The table's columns, and after them those that only this release knows. */
function merged(current: string, wanted: string): string {
  const have = fieldsOf(current);
  const { fields } = Struct.parse(JSON.parse(current));
  const added = Struct.parse(JSON.parse(wanted)).fields.filter(({ name }) => !have.has(name));
  return JSON.stringify({ type: 'struct', fields: [...fields, ...added] });
}

/** An `add` for a file that was just written. @param path relative to the table. */
export function addOf(
  path: string,
  written: { size: number; rows: number },
  now: number,
  dataChange = true,
): Add {
  return {
    path,
    size: written.size,
    modificationTime: now,
    dataChange,
    stats: JSON.stringify({ numRecords: written.rows }),
  };
}

/** A name that no other file of the table has. */
export function newFileName(): string {
  return `part-${randomUUID()}.zstd.parquet`;
}
