import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { query } from '../../warehouse/query.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/flipstream.js', import.meta.url));

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));

/** What programs take for their own, each a folder of its own below `root`. */
const PLACES = ['HOME', 'TMPDIR', ...['STATE', 'DATA', 'CONFIG', 'CACHE'].map((kind) => `XDG_${kind}_HOME`)];

/** What `npm run demo` does, from the checkout, as a user to whom nothing but empty folders belongs. */
function demo(root: string) {
  const own = PLACES.map((name): [string, string] => [name, join(root, name)]);
  for (const [, folder] of own) mkdirSync(folder);
  const env = { PATH: process.env.PATH, ...Object.fromEntries(own) };
  return new Promise<{ code: unknown; out: string; err: string }>((resolve) => {
    execFile(process.execPath, [LAUNCHER, 'demo'], { env, cwd: CHECKOUT }, (error, out, err) =>
      resolve({ code: error ? error.code : 0, out, err }),
    );
  });
}

/** Files of the checkout that are not as they were committed, but for compiled code that is kept between starts. */
function unlike(): string[] {
  const git = ['status', '--porcelain', '--ignored', '--untracked-files=all'];
  return execFileSync('git', git, { cwd: CHECKOUT, encoding: 'utf8', maxBuffer: 2 ** 28 })
    .split('\n')
    .filter((line) => !line.includes('node_modules/.cache/'));
}

test('the demo: FAIL, block, fix, PASS, flip, and last the question with its answer; nothing is left running, nor lies elsewhere', async () => {
  const state = mkdtempSync(join(tmpdir(), 'flipstream-demo-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const before = unlike();
  const { code, out, err } = await demo(state);
  expect(code, err).toBe(0);
  expect(unlike()).toEqual(before);
  const left = PLACES.flatMap((name) => readdirSync(join(state, name)).map((file) => `${name}/${file}`));
  expect(left).toEqual(['XDG_STATE_HOME/flipstream']);
  expect(readdirSync(join(state, 'XDG_STATE_HOME', 'flipstream'))).toEqual(['demo']);

  const told = [
    'oracle FAIL',
    'the gate holds the agent',
    'oracle PASS',
    'The flip is in the warehouse, ',
    'Real:',
  ];
  const places = told.map((word) => err.indexOf(word));
  expect(places).toEqual([...places].filter((at) => at >= 0).sort((a, b) => a - b));
  expect(err).toContain('Scripted: the model’s words');

  const [, sql = ''] = /^> (SELECT .*?)\ntask_id/ms.exec(out) ?? [];
  const [, warehouse = ''] = /flipstream sql --home (\S+)/.exec(out) ?? [];
  const { columns, rows } = await query(join(warehouse, 'warehouse'), sql);
  const answer = Object.fromEntries(columns.map(({ name }, at) => [name, rows[0]?.[at]]));
  expect(rows).toHaveLength(1);
  expect(answer).toMatchObject({ task_id: 'demo-split-bill', outcome: 'flipped', flipped_at_attempt: 2 });
  for (const value of Object.values(answer)) expect(out).toContain(String(value));

  const [, files = ''] = /^Files: (\S+)/m.exec(out) ?? [];
  expect(
    ['home/traces', 'home/log', 'home/warehouse'].filter((name) => !existsSync(join(files, name))),
  ).toEqual([]);
  const processes = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
  expect(processes.split('\n').filter((line) => line.includes(files))).toEqual([]);
}, 300_000);
