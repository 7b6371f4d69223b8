import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Outgoing } from '../../log/log.ts';
import { layout } from '../../producers/home.ts';
import { jsonReader } from '../../schemas/from-json.ts';
import type { TraceEvent } from '../../schemas/generated.ts';
import { blankEvent } from '../../schemas/testing.ts';
import { TABLE_NAMES, type TableName } from '../../warehouse/tables.ts';
import { type Sandbox, sandbox } from '../testing.ts';
import { landSample } from '../testing-warehouse.ts';

let box: Sandbox;
beforeAll(async () => {
  box = sandbox();
  await landSample(layout(join(box.root, 'home')), others());
});
afterAll(() => box.remove());

/** Beside the sample session: two that nobody graded, one of another model; a task; what was withheld and set aside. */
function others(): Outgoing[] {
  const started = { type: 'session_start', harness: 'claude-code', ts: '2026-01-02T00:00:00.000Z' } as const;
  const sessions = [null, 'm'].map((model, nth) => {
    const value: TraceEvent = {
      ...blankEvent(),
      ...started,
      model,
      session_id: `s${nth}`,
      event_id: `${nth}`,
    };
    return { topic: 'trace.events', key: value.session_id, value } as const;
  });
  const task = {
    task_id: 'task-1',
    root_commit: 'r',
    base_commit: 'b',
    tests_hash: 'h',
    family: 'f',
    split: 'train',
  };
  const held = {
    event_id: '0',
    session_id: 's0',
    ts: started.ts,
    type: 'message',
    reason: 'hit',
    rules: ['aws'],
  };
  const letter = {
    ...{
      source_topic: 'trace.raw',
      source_partition: 0,
      source_offset: 3,
      group: 'redact',
      reason: 'undecodable',
    },
    ...{ message: '12 bytes are not this record', key: 's0', value_hash: 'f'.repeat(64), value_bytes: 12 },
    at: started.ts,
  };
  return [
    ...sessions,
    { topic: 'tasks', key: 'task-1', value: jsonReader('Task')({ ...task, status: 'ready' }) },
    { topic: 'trace.quarantine', key: 's0', value: { ...held, scanner: 'x@1', content: null } },
    { topic: 'deadletter', key: 'trace.raw', value: { ...letter, content: null } },
  ];
}

/** Everything but where a row came from (columns that begin with _). */
async function contents(home: string) {
  const all: Partial<Record<TableName, unknown>> = {};
  for (const table of TABLE_NAMES) {
    const ran = await box.flipstream([
      'sql',
      `select columns(c -> not starts_with(c, '_')) from ${table} order by all`,
      '--json',
      '--home',
      join(box.root, home),
    ]);
    expect(ran.err).toBe('');
    all[table] = ran.json();
  }
  return all;
}

test.each(['archive', 'log'])(
  'replay from the %s gives the same warehouse contents in a fresh home',
  async (from) => {
    const ran = await box.flipstream(['replay', `fresh-${from}`, '--from', from, '--json']);
    expect(ran).toMatchObject({ code: 0, err: '' });
    const records = { events: 11, verdicts: 3, tasks: 1, quarantine: 1, deadletter: 1 };
    expect(ran.json()).toMatchObject({ records });
    const before = await contents('home');
    for (const table of TABLE_NAMES) expect(before[table], table).not.toEqual([]);
    expect(before.flip_metrics).toHaveLength(3);
    expect(await contents(`fresh-${from}`)).toEqual(before);
  },
);

test('replay adds to nothing', async () => {
  writeFileSync(join(box.root, 'a-file'), '');
  for (const target of ['home', 'a-file', '/proc/nowhere'])
    expect(await box.flipstream(['replay', target])).toMatchObject({ code: 2 });
  expect(await box.flipstream(['pause', '--home', '/proc/nowhere'])).toMatchObject({ code: 2 });
  expect(await box.flipstream(['replay', 'x', '--from', 'memory'])).toMatchObject({ code: 2 });
});

test('a replay that fails leaves nothing behind, so that it can be tried again', async () => {
  cpSync(join(box.root, 'home'), join(box.root, 'torn'), { recursive: true });
  const verdicts = join(box.root, 'torn', 'warehouse', 'verdicts');
  for (const file of readdirSync(verdicts)) if (file.endsWith('.parquet')) rmSync(join(verdicts, file));
  const tried = () => box.flipstream(['replay', 'again', '--home', join(box.root, 'torn')]);
  expect(await tried()).toMatchObject({ code: 1, err: expect.stringContaining('.parquet') });
  expect(readdirSync(join(box.root, 'again'))).toEqual([]);
  expect(await tried()).toMatchObject({ code: 1 });
});
