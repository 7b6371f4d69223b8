import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../schemas/parse-json.ts';
import type { OracleDb } from '../db.ts';
import { replaceFile } from '../files.ts';
import { keepDiff, reasonName } from '../private-log.ts';
import { requestReasonName } from '../service/requests.ts';
import { TaskDefinition } from '../tasks/definition.ts';
import { type StoreAt, storeTask } from '../tasks/store.ts';
import { readHidden } from '../tasks/tests-hash.ts';
import type { Sealer } from './sealer.ts';
import { isSealedSql, sealText } from './text.ts';

/**
 * Seals what release 0.1.0 kept in the open: task.json and hidden files of each task, diffs, run logs. Each is sealed
 * before its open form goes, so a stop in between costs nothing.
 */
export function sealEarlier(at: StoreAt): void {
  const { home, sealer } = at;
  for (const taskId of readdirSync(home.store)) {
    const place = join(home.store, taskId);
    if (!existsSync(join(place, 'task.json'))) continue;
    const definition = TaskDefinition.parse(parseJson(readFileSync(join(place, 'task.json'), 'utf8')));
    storeTask(at, { definition, hidden: readHidden(join(place, 'hidden')), reference: null });
    rmSync(place, { recursive: true });
  }
  each(join(home.log, 'diffs'), '.patch', (hash, path) => keepDiff(at, hash, readFileSync(path)));
  each(join(home.log, 'runs'), '.json', (runId, path) => {
    const name = `${runId}.run`;
    replaceFile(join(home.log, 'runs', name), sealer.seal(name, readFileSync(path)));
  });
}

const Unsealed = z.object({ id: z.number(), name: z.string(), reason: z.string() });

/** Seals the reasons that earlier releases kept in the open in the database, where a failed test's name stands. */
export function sealReasons({ db, sealer }: { db: OracleDb; sealer: Sealer }): void {
  const left = db.transaction(() => {
    // What is overwritten is not to be left in the file either.
    db.sql.exec('pragma secure_delete = on');
    const runs = unsealed(db, 'runs', 'run_id', sealer, reasonName);
    const requests = unsealed(db, 'requests', 'id', sealer, (id) => requestReasonName(Number(id)));
    return runs + requests;
  });
  if (left > 0) db.sql.exec('pragma wal_checkpoint(truncate)');
}

function unsealed(
  db: OracleDb,
  table: 'runs' | 'requests',
  name: string,
  sealer: Sealer,
  nameOf: (name: string) => string,
): number {
  const rows = db.sql
    .prepare(
      `select id, cast(${name} as text) name, reason from ${table} where reason is not null and not ${isSealedSql('reason')}`,
    )
    .all()
    .map((row) => Unsealed.parse(row));
  const put = db.sql.prepare(`update ${table} set reason = ? where id = ?`);
  for (const row of rows) put.run(sealText(sealer, nameOf(row.name), row.reason), row.id);
  return rows.length;
}

function each(dir: string, suffix: string, seal: (stem: string, path: string) => void): void {
  if (!existsSync(dir)) return;
  for (const name of readdirSync(dir).filter((name) => name.endsWith(suffix))) {
    seal(name.slice(0, -suffix.length), join(dir, name));
    rmSync(join(dir, name));
  }
}
