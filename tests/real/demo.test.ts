import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { query } from '../../warehouse/query.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/flipstream.js', import.meta.url));

/** What `npm run demo` does, with a state directory of its own. */
function demo(state: string) {
  const env = { PATH: process.env.PATH, HOME: state, XDG_STATE_HOME: state, TMPDIR: state };
  return new Promise<{ code: unknown; out: string; err: string }>((resolve) => {
    execFile(process.execPath, [LAUNCHER, 'demo'], { env, cwd: state }, (error, out, err) =>
      resolve({ code: error ? error.code : 0, out, err }),
    );
  });
}

test('the demo: FAIL, block, fix, PASS, flip, and last the question with its answer; nothing is left running', async () => {
  const state = mkdtempSync(join(tmpdir(), 'flipstream-demo-'));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const { code, out, err } = await demo(state);
  expect(code, err).toBe(0);

  const told = [
    'oracle FAIL',
    'the gate holds the agent',
    'oracle PASS',
    'The flip is in the warehouse',
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
