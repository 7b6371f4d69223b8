import { cpSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { layout } from '../../producers/home.ts';
import { type Sandbox, sandbox } from '../testing.ts';
import { landSample } from '../testing-warehouse.ts';

let box: Sandbox;
beforeAll(async () => {
  box = sandbox();
  await landSample(layout(join(box.root, 'home')));
});
afterAll(() => box.remove());

const TABLES = ['events', 'verdicts', 'sessions', 'flips', 'tasks'];

/** Everything but where a row came from (columns that begin with _). */
async function contents(home: string): Promise<unknown> {
  const all: Record<string, unknown> = {};
  for (const table of TABLES) {
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
    expect(ran.json()).toMatchObject({ records: { events: 9, verdicts: 3 } });
    expect(await contents(`fresh-${from}`)).toEqual(await contents('home'));
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
