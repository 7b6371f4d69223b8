import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../schemas/hash.ts';
import { isoTime } from '../../schemas/time.ts';
import { readPlainFile } from '../git/plain-file.ts';
import type { Repository } from '../git/repository.ts';
import type { Home } from '../home.ts';
import { readState, writeState } from './state-file.ts';

/**
 * `task start`'s own record of a clone it made, under FLIPSTREAM_HOME. It, and not the project's file, makes a
 * session `task_source: dispatch`. It is found by the real path of the clone's git directory and holds only
 * for the clone that carries the same random mark, so neither a copied config nor another clone put at the
 * same place passes for it.
 */
export interface Dispatch {
  task_id: string;
  base_commit: string;
  root_commit: string;
}

const MARK = 'flipstream-dispatch';

function fileOf(home: Home, repo: Repository): string {
  return join(home.root, 'dispatch', `${sha256(repo.commonDir)}.json`);
}

/** Marks a clone and writes its record. @param now milliseconds since the epoch @throws when the disk refuses */
export function writeDispatch(home: Home, repo: Repository, dispatch: Dispatch, now: number): void {
  const mark = randomBytes(16).toString('hex');
  writeFileSync(join(repo.commonDir, MARK), mark);
  const record = { v: 1, ...dispatch, clone: repo.top, mark_hash: sha256(mark), made_at: isoTime(now) };
  // in a home that agents of other users share, their hooks read it; in any other the folders above are closed
  writeState(fileOf(home, repo), record, 'replace', 0o644);
}

/** The record of a clone (or of a linked working tree of it), or null when `task start` did not make it. */
export function readDispatch(home: Home, repo: Repository): Dispatch | null {
  const record = readState(fileOf(home, repo));
  const mark = readPlainFile(join(repo.commonDir, MARK), 256);
  if (record?.v !== 1 || !mark || record.mark_hash !== sha256(mark)) return null;
  const { task_id, base_commit, root_commit } = record;
  if (typeof task_id !== 'string' || typeof base_commit !== 'string' || typeof root_commit !== 'string')
    return null;
  return { task_id, base_commit, root_commit };
}
