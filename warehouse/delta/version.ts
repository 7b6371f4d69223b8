import type { Add, Metadata, Remove } from './actions.ts';

/** One version of a table, whole. Never changed: a later version is another snapshot. */
export interface Snapshot {
  /** -1: the table does not exist yet. */
  version: number;
  metaData: Metadata | null;
  /** What the protocol of the table asks of whoever writes it. */
  minWriterVersion: number;
  files: ReadonlyMap<string, Add>;
  /** Files removed in versions still kept; they stay on the disk for a day for whoever reads those. */
  removed: ReadonlyMap<string, Remove>;
  /** Next offset by application id. */
  txns: ReadonlyMap<string, number>;
}
