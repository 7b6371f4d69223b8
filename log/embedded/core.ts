import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../schemas/time.ts';
import type { LogCounters, Running } from '../log.ts';
import type { Seal } from '../values.ts';
import type { Warn } from '../warn.ts';
import type { Append } from './append.ts';
import type { Catalog } from './catalog.ts';
import type { Read } from './read.ts';
import type { Transact } from './transact.ts';
import type { Wake } from './wake.ts';

/** What the parts of one open embedded log share. */
export interface Core {
  db: DatabaseSync;
  path: string;
  clock: Clock;
  seal: Seal | undefined;
  catalog: Catalog;
  transact: Transact;
  wake: Wake;
  append: Append;
  read: Read;
  counters: LogCounters;
  leaseMs: number;
  warn: Warn;
  /** Everything that runs on this log, for `close`. */
  running: Set<Running>;
}
