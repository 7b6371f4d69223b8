import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { layout } from '../../producers/home.ts';
import { openTable } from '../../warehouse/delta/table.ts';
import { tableColumns, tableDir } from '../../warehouse/tables.ts';
import { type Sandbox, sandbox } from '../testing.ts';
import { landSample } from '../testing-warehouse.ts';
import { SESSION } from '../verify/testing.ts';

let box: Sandbox;
beforeAll(async () => {
  box = sandbox();
  await landSample(layout(join(box.root, 'home')));
});
afterAll(() => box.remove());

test('sessions lists it with its outcome', async () => {
  expect((await box.flipstream(['sessions', '--json'])).json()).toMatchObject([
    { session_id: SESSION, task_id: 'task-1', outcome: 'flipped', attempts: 2 },
  ]);
  expect((await box.flipstream(['sessions', '--outcome', 'no_flip', '--json'])).json()).toEqual([]);
  expect((await box.flipstream(['sessions'])).out).toContain('flipped');
});

test('session show tells what was said and done, by the beginning of the id', async () => {
  const shown = await box.flipstream(['session', 'show', SESSION.slice(0, 6)]);
  expect(shown).toMatchObject({ code: 0 });
  for (const text of ['mend the bug', 'Bash', 'Done.', 'FAIL', 'PASS']) expect(shown.out).toContain(text);
  expect(await box.flipstream(['session', 'show', 'nobody'])).toMatchObject({ code: 2 });
});

test('flips lists it', async () => {
  expect((await box.flipstream(['flips', '--json'])).json()).toMatchObject([
    { session_id: SESSION, attempt: 2, retracted: null },
  ]);
});

test.each(['bundle', 'bundle.jsonl'])(
  'session export writes %s that verify finds intact, and one changed byte altered',
  async (name) => {
    const exported = await box.flipstream(['session', 'export', SESSION, '--out', name, '--json']);
    expect(exported).toMatchObject({ code: 0, err: '' });
    expect(exported.json()).toMatchObject({ events: 9, verdicts: 3, state: 'intact' });
    const verified = await box.flipstream(['verify', name, '--json']);
    expect(verified).toMatchObject({ code: 0 });
    expect(verified.json()).toMatchObject({ state: 'intact', flip: true, outcome: 'flipped' });
    expect(await box.flipstream(['session', 'export', SESSION, '--out', name])).toMatchObject({ code: 2 });
    const file = join(box.root, name, ...(name.endsWith('.jsonl') ? [] : ['verdicts.jsonl']));
    writeFileSync(file, readFileSync(file, 'utf8').replace('"verdict":"FAIL"', '"verdict":"PASS"'));
    expect(await box.flipstream(['verify', name])).toMatchObject({ code: 1 });
  },
);

test('sql answers as table, JSON and CSV, writes files, and refuses to write tables', async () => {
  const query = 'select type, count(*) as n from events group by 1 order by 1';
  expect((await box.flipstream(['sql', query])).out).toContain('session_start   1');
  expect((await box.flipstream(['sql', query, '--json'])).json()).toContainEqual({ type: 'message', n: 2 });
  expect((await box.flipstream(['sql', query, '--format', 'csv'])).out).toContain('message,2\n');
  const out = await box.flipstream(['sql', 'from events', '--out', 'events.csv', '--json']);
  expect(out.json()).toMatchObject({ rows: 9 });
  expect(existsSync(join(box.root, 'events.csv'))).toBe(true);
  expect(await box.flipstream(['sql', 'drop table events'])).not.toMatchObject({ code: 0 });
  expect(await box.flipstream(['sql', 'selec 1'])).toMatchObject({ code: 2, out: '' });
  expect(await box.flipstream(['sql', query, '--out', 'x.txt', '--format', 'table'])).toMatchObject({
    code: 2,
  });
});

test('a table of a newer release is asked, and not taken out cut', async () => {
  const { warehouse } = layout(join(box.root, 'home'));
  const columns = [...tableColumns('events'), { name: 'mood', type: { kind: 'string' } } as const];
  await openTable(tableDir(warehouse, 'events'), columns, Date.now);
  expect(await box.flipstream(['sql', 'select count(*) from events'])).toMatchObject({ code: 0 });
  const ran = await box.flipstream(['session', 'export', SESSION, '--out', 'newer']);
  expect(ran).toMatchObject({ out: '' });
  expect(ran.code).not.toBe(0);
  expect(ran.err).toContain('columns of a newer release (mood)');
});

test('a home where nothing was recorded gets one sentence', async () => {
  for (const command of [
    ['sessions'],
    ['sql', 'select 1'],
    ['flips', '--follow'],
    ['session', 'export', 'x'],
  ]) {
    const ran = await box.flipstream([...command, '--home', join(box.root, 'empty')]);
    expect(ran, command[0]).toMatchObject({ code: 2, out: '' });
    expect(ran.err.trim().split('\n'), command[0]).toHaveLength(1);
  }
  expect(existsSync(join(box.root, 'empty'))).toBe(false);
});
