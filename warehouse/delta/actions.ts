/** The actions of the Delta Lake protocol that we write and read (reader 1, writer 2). */
import { z } from 'zod';
import { readJsonAs } from '../../schemas/read-as.ts';

const Strings = z.record(z.string(), z.string().nullable());

const Protocol = z.object({ minReaderVersion: z.number().int(), minWriterVersion: z.number().int() });

export const Metadata = z.object({
  id: z.string(),
  format: z.object({ provider: z.string() }),
  schemaString: z.string(),
  partitionColumns: z.array(z.string()),
  configuration: Strings,
  createdTime: z.number().nullish(),
});
export type Metadata = z.infer<typeof Metadata>;

export const Add = z.object({
  path: z.string(),
  size: z.number(),
  modificationTime: z.number(),
  dataChange: z.boolean(),
  /** JSON text; we write `numRecords`. */
  stats: z.string().nullish(),
});
export type Add = z.infer<typeof Add>;

export const Remove = z.object({
  path: z.string(),
  /** Milliseconds since the epoch. */
  deletionTimestamp: z.number().nullish(),
  dataChange: z.boolean(),
});
export type Remove = z.infer<typeof Remove>;

/** How far an application has come; `appId` is `<log id>/<topic>/<partition>`, `version` the next offset. */
const Txn = z.object({
  appId: z.string(),
  version: z.number().int(),
  lastUpdated: z.number().nullish(),
});
type Txn = z.infer<typeof Txn>;

/** One line of a commit, or one row of a checkpoint. Unknown actions are for readers newer than ours. */
export const ActionLine = z.object({
  protocol: Protocol.nullish(),
  metaData: Metadata.nullish(),
  add: Add.nullish(),
  remove: Remove.nullish(),
  txn: Txn.nullish(),
});
export type ActionLine = z.infer<typeof ActionLine>;

export const LastCheckpoint = z.object({ version: z.number().int(), size: z.number() });

/** What a commit says; the order of the lines is fixed by `lines`. */
export interface Commit {
  /** What was done, for `commitInfo`: WRITE, MERGE, OPTIMIZE, CREATE TABLE. */
  operation: string;
  metaData?: Metadata;
  first?: boolean;
  adds?: readonly Add[];
  removes?: readonly Remove[];
  txns?: readonly Txn[];
}

export const OUR_PROTOCOL = { minReaderVersion: 1, minWriterVersion: 2 } as const;

/** @param now milliseconds since the epoch. */
export function commitText(commit: Commit, now: number): string {
  const { operation, metaData, first = false, adds = [], removes = [], txns = [] } = commit;
  const lines: unknown[] = [
    { commitInfo: { timestamp: now, operation, operationParameters: {}, engineInfo: 'flipstream' } },
  ];
  if (first) lines.push({ protocol: OUR_PROTOCOL });
  if (metaData) lines.push({ metaData: { ...metaData, format: { provider: 'parquet', options: {} } } });
  for (const txn of txns) lines.push({ txn });
  for (const remove of removes) lines.push({ remove });
  for (const add of adds) lines.push({ add: { ...add, partitionValues: {} } });
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}

const Stats = z.object({ numRecords: z.number() });

/** Rows of a file as its `stats` tell, or null. */
export function rowsOf({ stats }: Add): number | null {
  const told = readJsonAs(Stats, () => stats ?? 'null');
  return told.ok ? told.data.numRecords : null;
}
