/** PyPI's deltalake and polars, which know nothing of us, read every table at every version. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  caughtUp,
  event,
  landAll,
  newPlace,
  openLog,
  session,
  verdict,
} from '../../consumers/sink/testing.ts';
import { compact } from '../../warehouse/compact.ts';
import { rowsOf } from '../../warehouse/delta/actions.ts';
import { readSnapshot } from '../../warehouse/delta/snapshot.ts';
import { query } from '../../warehouse/query.ts';
import { TABLE_NAMES, type TableName, tableDir } from '../../warehouse/tables.ts';

const CACHE = join(
  process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'),
  'flipstream-tests',
  'delta-readers',
);
const PYTHON = join(CACHE, 'bin', 'python');
const PACKAGES = ['deltalake==1.6.6', 'polars==2.1.0', 'pyarrow'];

/** @returns why it cannot be installed, or null. */
function install(): string | null {
  const have = () =>
    existsSync(PYTHON) && spawnSync(PYTHON, ['-c', 'import deltalake, polars, pyarrow']).status === 0;
  if (have()) return null;
  mkdirSync(CACHE, { recursive: true });
  const venv = spawnSync('python3', ['-m', 'venv', CACHE], { encoding: 'utf8' });
  if (venv.status !== 0) return `python3 -m venv failed: ${venv.stderr ?? venv.error?.message}`;
  const pip = spawnSync(PYTHON, ['-m', 'pip', 'install', '--quiet', ...PACKAGES], { encoding: 'utf8' });
  return have() ? null : `pip install ${PACKAGES.join(' ')} failed: ${pip.stderr}`;
}

const missing = install();
if (missing && process.env.CI) throw new Error(`CI may not skip this: ${missing}`);
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

/** Rows of the newest version. */
const PUBLISHED: Partial<Record<TableName, number>> = { events: 1000, sessions: 4, verdicts: 9 };

describe.skipIf(missing !== null)('other Delta readers', () => {
  const place = newPlace();
  let log: Awaited<ReturnType<typeof openLog>>;
  beforeAll(async () => {
    log = await openLog(place);
    for (let round = 0; round < 25; round++) {
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
      const dir = tableDir(place.warehouse, table);
      const newest = await readSnapshot(dir);
      const versions = Array.from({ length: newest.version + 1 }, (_, version) => version);
      const ours = await Promise.all(versions.map((version) => readSnapshot(dir, { version })));
      const counts = ours.map(({ files }) =>
        [...files.values()].reduce((sum, add) => sum + (rowsOf(add) ?? 0), 0),
      );
      expect(read[dir]?.counts, table).toEqual(counts.map((count) => [count, count]));
      const [[inSql]] = (await query(place.warehouse, `SELECT count(*) FROM ${table}`)).rows as [[number]];
      expect(inSql, table).toBe(counts.at(-1));
      expect(inSql, table).toBe(PUBLISHED[table] ?? 0);
    }
    expect((await readSnapshot(tableDir(place.warehouse, 'events'))).version).toBeGreaterThan(25);
  });

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
