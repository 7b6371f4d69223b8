/** PyPI's deltalake and polars, which know nothing of us, read every table at every version. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  caughtUp,
  event,
  landAll,
  metric,
  newPlace,
  openLog,
  session,
  verdict,
} from '../../consumers/sink/testing.ts';
import type { Outgoing } from '../../log/log.ts';
import { jsonReader } from '../../schemas/from-json.ts';
import { compact } from '../../warehouse/compact.ts';
import { CHECKPOINT_EVERY } from '../../warehouse/delta/checkpoint.ts';
import { checkpointPath } from '../../warehouse/delta/files.ts';
import { readSnapshot } from '../../warehouse/delta/snapshot.ts';
import { query } from '../../warehouse/query.ts';
import { relation } from '../../warehouse/relation.ts';
import { TABLE_NAMES, type TableName, tableColumns, tableDir } from '../../warehouse/tables.ts';
import { ensurePython, pythonOf } from '../support/python-packages.ts';

const PYTHON = pythonOf('delta-readers');
const missing = ensurePython('delta-readers');
if (missing) process.stderr.write(`delta-readers: skipped, ${missing}\n`);

/** Rows of every version of a table, as both readers count them. */
const COUNT = `
import json, sys
import polars as pl
from deltalake import DeltaTable
out = {}
for path in sys.argv[1:]:
    newest = DeltaTable(path).version()
    counts = []
    for version in range(newest + 1):
        table = DeltaTable(path, version=version)
        arrow = table.to_pyarrow_table().num_rows
        lazy = pl.scan_delta(path, version=version).select(pl.len()).collect().item()
        counts.append([arrow, lazy])
    whole = pl.read_delta(path)
    out[path] = {"counts": counts, "columns": whole.columns, "txns": {}}
print(json.dumps(out))
`;

function python(script: string, args: readonly string[]): string {
  // Arrow's threads can abort the interpreter as it ends, after all is printed: leave without the farewell.
  const whole = `${script}\nimport os\nsys.stdout.flush()\nos._exit(0)\n`;
  const { status, stdout, stderr } = spawnSync(PYTHON, ['-c', whole, ...args], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

/** A version a round, and so a checkpoint in every table, from which the readers then go. */
const ROUNDS = CHECKPOINT_EVERY + 2;

/** Rows of the newest version. */
const PUBLISHED: Record<TableName, number> = {
  ...{ events: 40 * ROUNDS, verdicts: 9, sessions: 4, flips: 5, flip_metrics: 6, tasks: 7 },
  ...{ quarantine: ROUNDS, deadletter: ROUNDS },
};

/** What a round puts into the tables that are neither of events nor of sessions nor of verdicts. */
function others(round: number): Outgoing[] {
  const [session_id, task_id] = [`s${round % 5}`, `t${round % 7}`];
  const commit = { base_commit: 'b', tests_hash: 'h' };
  const ran = { runner: 'process', placement: 'same_host', evidence: 'in_process' };
  const signed = { baseline: '{}', verdict: '{}', flipped_at: at(round) };
  const flip = {
    session_id,
    task_id: 't',
    attempt: 1,
    chain_id: 'c',
    head: 'h',
    ...commit,
    ...ran,
    ...signed,
  };
  const task = {
    task_id,
    root_commit: 'r',
    ...commit,
    split: 'train',
    status: round % 2 ? 'ready' : 'flaky',
  };
  const held = {
    event_id: `${round}`,
    session_id,
    ts: at(round),
    type: 'message',
    reason: 'hit',
    rules: ['r'],
  };
  const source = { source_topic: 'trace.raw', source_partition: 0, source_offset: round, group: 'redact' };
  const letter = { reason: 'undecodable', message: 'no record', key: 's', value_hash: 'f', value_bytes: 1 };
  return [
    metric(at(round % 2).slice(0, 10), `repo-${round % 3}`, {
      sessions: round,
      with_task: round % 2 ? null : 1,
    }),
    { topic: 'flips', key: session_id, value: jsonReader('Flip')({ ...flip, revision: round }) },
    { topic: 'tasks', key: task_id, value: jsonReader('Task')(task) },
    { topic: 'trace.quarantine', key: session_id, value: { ...held, scanner: 's', content: null } },
    { topic: 'deadletter', key: 'trace.raw', value: { ...source, ...letter, at: at(round), content: null } },
  ];
}

const at = (day: number) => new Date(Date.UTC(2026, 0, 1 + day)).toISOString();

describe.skipIf(missing !== null)('other Delta readers', () => {
  const place = newPlace();
  let log: Awaited<ReturnType<typeof openLog>>;
  beforeAll(async () => {
    log = await openLog(place);
    for (let round = 0; round < ROUNDS; round++) {
      await log.publish(
        Array.from({ length: 40 }, (_, i) =>
          event(`s${i % 3}`, round * 40 + i, {
            text_redacted: i % 4 ? 'é\u2028"\\' : null,
            redactions: i % 10 ? [] : [{ field: 'text', before: 'a', after: 'b', rule: 'r', scanner: 's' }],
          }),
        ),
      );
      await log.publish([
        session(`s${round % 4}`, { events: round, marks: ['fork'] }),
        verdict(`v${round % 9}`, 's1'),
        ...others(round),
      ]);
      await landAll(log, place);
      if (round % 10 === 9) await compact({ warehouse: place.warehouse, clock: Date.now, from: 2 });
    }
  });
  afterAll(async () => {
    await log.close();
    place.remove();
  });

  test('deltalake and polars count what SQL counts, in every table at every version', async () => {
    const dirs = TABLE_NAMES.map((table) => tableDir(place.warehouse, table));
    const read: Record<string, { counts: number[][]; columns: string[] }> = JSON.parse(python(COUNT, dirs));
    for (const table of TABLE_NAMES) {
      const counts = await countsBySql(table);
      expect(existsSync(checkpointPath(tableDir(place.warehouse, table), CHECKPOINT_EVERY)), table).toBe(
        true,
      );
      expect(read[tableDir(place.warehouse, table)]?.counts, table).toEqual(
        counts.map((count) => [count, count]),
      );
      const [[inSql]] = (await query(place.warehouse, `SELECT count(*) FROM ${table}`)).rows as [[number]];
      expect(inSql, table).toBe(counts.at(-1));
      expect(inSql, table).toBe(PUBLISHED[table]);
      expect(new Set(counts).size, `${table} has grown`).toBeGreaterThan(3);
    }
    expect((await readSnapshot(tableDir(place.warehouse, 'events'))).version).toBeGreaterThan(ROUNDS);
  });

  /** What the table's view counts when it stands on the files of each version, from the first on. */
  async function countsBySql(table: TableName): Promise<number[]> {
    const dir = tableDir(place.warehouse, table);
    const { version: newest } = await readSnapshot(dir);
    const counts: string[] = [];
    for (let version = 0; version <= newest; version++) {
      const { files } = await readSnapshot(dir, { version });
      const paths = Array.from(files.values(), ({ path }) => join(dir, path));
      counts.push(
        `SELECT ${version} AS version, count(*) AS n FROM (${relation(tableColumns(table), paths)})`,
      );
    }
    const { rows } = await query(
      place.warehouse,
      `SELECT n FROM (${counts.join(' UNION ALL ')}) ORDER BY version`,
    );
    return rows.map(([n]) => Number(n));
  }

  test('deltalake finds our offsets, makes checkpoints that we read, and sees the same values', async () => {
    const dir = tableDir(place.warehouse, 'events');
    const { txns } = await readSnapshot(dir);
    const [appId = '', next] = [...txns][0] ?? [];
    const script = `
import sys, json
import polars as pl
from deltalake import DeltaTable
table = DeltaTable(sys.argv[1])
table.create_checkpoint()
rows = pl.read_delta(sys.argv[1]).filter(pl.col("redactions").list.len() > 0).sort("event_id")
print(json.dumps([table.transaction_version(sys.argv[2]), rows.head(1)["redactions"].to_list(), rows.head(1)["text_redacted"].to_list()]))`;
    const [version, redactions, texts] = JSON.parse(python(script, [dir, appId]));
    expect(version).toBe(next);
    const ours = await query(
      place.warehouse,
      'SELECT redactions, text_redacted FROM events WHERE len(redactions) > 0 ORDER BY event_id LIMIT 1',
    );
    expect(ours.rows).toEqual([[redactions[0], texts[0]]]);
  });

  test('two sinks in two processes conflict, and deltalake counts every event once', async () => {
    const two = newPlace();
    const shared = await openLog(two);
    const script = new URL('../../consumers/sink/kill-child.ts', import.meta.url).pathname;
    const sinks = ['one', 'two'].map((group) =>
      spawn(process.execPath, [script, two.logDir, two.warehouse, group], {
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    );
    await Promise.all(sinks.map((sink) => once(sink.stdout, 'data')));
    for (let round = 0; round < 40; round++) {
      await shared.publish(Array.from({ length: 100 }, (_, i) => event(`s${i % 4}`, round * 100 + i)));
    }
    await Promise.all([caughtUp(shared, two, 'one'), caughtUp(shared, two, 'two')]);
    for (const sink of sinks) {
      const gone = once(sink, 'exit');
      sink.kill('SIGKILL');
      await gone;
    }
    await landAll(shared, two, { group: 'last' });
    const script2 = `
import sys
from deltalake import DeltaTable
ids = DeltaTable(sys.argv[1]).to_pyarrow_table(columns=["event_id"])["event_id"].to_pylist()
print(len(ids), len(set(ids)))`;
    expect(python(script2, [tableDir(two.warehouse, 'events')]).trim()).toBe('4000 4000');
    await shared.close();
    two.remove();
  });
});
