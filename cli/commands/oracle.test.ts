import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeRepository } from '../../oracle/testing.ts';
import { sandbox } from '../testing.ts';

const TASK = 'demo-split-bill';
const DEMO = new URL('../../examples/demo/', import.meta.url).pathname;

/** Commands run in this process; `suite` and `hidden` are shell lines that take no time. */
function operator() {
  const box = sandbox();
  onTestFinished(() => box.remove());
  const dir = join(box.root, 'task');
  cpSync(join(DEMO, 'hidden'), join(dir, 'hidden'), { recursive: true });
  cpSync(join(DEMO, 'fix.patch'), join(dir, 'fix.patch'));
  const task = (change: object = {}) =>
    writeFileSync(
      join(dir, 'task.json'),
      JSON.stringify({
        ...{ task_id: TASK, mirror: makeRepository(), base_commit: 'HEAD', reference: 'fix.patch' },
        ...{ suite: 'true', hidden: ['grep -q "% people" src/bill.js'], allowlist: ['src/**'] },
        ...change,
      }),
    );
  return { ...box, dir, task };
}

test('a task from add to regrade, as its operator goes', async () => {
  const { flipstream, dir, task, root } = operator();
  task();
  expect(await flipstream(['oracle', 'task', 'add', dir])).toMatchObject({ code: 0 });
  const early = await flipstream(['oracle', 'regrade', '--task', TASK]);
  expect(early).toMatchObject({ code: 2, err: expect.stringMatching(/task check/) });
  const checked = await flipstream(['oracle', 'task', 'check', TASK]);
  expect(checked.out).toMatch(/How it fails at the base commit[\s\S]*is ready: .*its reference passes/);
  const good = await flipstream(['oracle', 'grade', TASK, join(dir, 'fix.patch')]);
  expect(good).toMatchObject({ code: 0, out: expect.stringMatching(/^PASS/) });
  writeFileSync(join(dir, 'no.patch'), 'no diff');
  const bad = await flipstream(['oracle', 'grade', TASK, join(dir, 'no.patch'), '--json']);
  expect(bad).toMatchObject({ code: 2, err: expect.stringMatching(/no\.patch is no diff/) });
  expect((await flipstream(['oracle', 'regrade', '--task', TASK])).out).toMatch(/^0 grade\(s\) run again/);
  await flipstream(['oracle', 'task', 'quarantine', TASK, '--reason', 'under repair']);
  expect((await flipstream(['oracle', 'task', 'list'])).out).toMatch(/quarantined.*under repair/);
  expect((await flipstream(['oracle', 'task', 'release', TASK])).out).toMatch(/is ready/);
  const out = join(root, 'out');
  expect(await flipstream(['oracle', 'task', 'export', TASK, '--out', out])).toMatchObject({ code: 0 });
  expect(existsSync(join(out, 'base.bundle'))).toBe(true);
  expect(readFileSync(join(out, 'task.json'), 'utf8')).not.toContain('% people');
});

test('the check of a task with constant_time says how long every answer takes', async () => {
  const { flipstream, dir, task } = operator();
  task({ constant_time: true, timeout_s: 10 });
  await flipstream(['oracle', 'task', 'add', dir]);
  const { out } = await flipstream(['oracle', 'task', 'check', TASK]);
  // Two commands, again in the control run; 34 s to apply the diff and to stop what hangs; and the baseline.
  const [, seconds] = /every answer leaves (\d+) s after its run began/.exec(out) ?? [];
  expect(Number(seconds)).toBeGreaterThan(74);
  expect(out).not.toContain('every gate');
  task({ constant_time: true, timeout_s: 300 });
  await flipstream(['oracle', 'task', 'add', dir]);
  expect((await flipstream(['oracle', 'task', 'check', TASK])).out).toMatch(/PENDING, as every gate is/);
  task({ constant_time: false });
  await flipstream(['oracle', 'task', 'add', dir]);
  expect((await flipstream(['oracle', 'task', 'check', TASK])).out).not.toContain('every answer leaves');
});

test('a check that is stopped ends what it runs, and the task stays as it was', async () => {
  const { flipstream, dir, task, root } = operator();
  const begun = join(root, 'begun');
  task({ suite: `touch ${begun}; sleep 60` });
  await flipstream(['oracle', 'task', 'add', dir]);
  const stop = new AbortController();
  const checked = flipstream(['oracle', 'task', 'check', TASK], { signal: stop.signal });
  await vi.waitFor(() => expect(existsSync(begun)).toBe(true), { timeout: 15_000 });
  stop.abort();
  expect(await checked).toMatchObject({ code: 130, out: '', err: '' });
  expect((await flipstream(['oracle', 'task', 'list'])).out).toMatch(/unchecked/);
});

test('what is wrong in task.json is one line that names the field and what to put there', async () => {
  const { flipstream, dir, task } = operator();
  const told = async (change: object) => {
    task(change);
    const { code, err } = await flipstream(['oracle', 'task', 'add', dir]);
    expect([code, err.trim().split('\n').length]).toEqual([2, 1]);
    return err;
  };
  expect(await told({ allowlist: undefined })).toMatch(/allowlist is missing: it must be a list/);
  expect(await told({ allowlits: [] })).toMatch(/allowlits is no field: correct its name or remove it/);
  expect(await told({ image: 'python:3.12', timeout_s: 'x' })).toMatch(
    /timeout_s must be a number; image must name an image by its digest/,
  );
  expect(await told({ runner: 'container' })).toMatch(/this oracle's is process/);
  expect(await told({ image: `sha256:${'0'.repeat(64)}` })).toMatch(
    /process runner of this oracle starts no container/,
  );
  expect(await told({ reference: 'none.patch' })).toMatch(/reference: .*no such file/);
});

test('keys: init, rotate, revoke, export', async () => {
  const { flipstream, dir, task } = operator();
  const made = await flipstream(['oracle', 'key', 'init', '--separate-host']);
  expect(made.json()).toMatchObject({
    keys: [{ runners: ['process'], placements: ['same_host', 'separate_host'] }],
  });
  const other = await flipstream(['oracle', 'key', 'init', '--runner', 'container']);
  expect(other).toMatchObject({ code: 2, err: expect.stringMatching(/a home of its own/) });
  task();
  await flipstream(['oracle', 'task', 'add', dir]);
  await flipstream(['oracle', 'task', 'check', TASK]);
  const [key = ''] = /process-[0-9a-f]{16}/.exec(made.out) ?? [];
  const busy = await flipstream(['oracle', 'key', 'revoke', key, '--after', 'none']);
  expect(busy).toMatchObject({ code: 2, err: expect.stringMatching(/oracle key rotate/) });
  expect((await flipstream(['oracle', 'key', 'rotate'])).out).toContain(
    `${key} is gone, and what it signed counts`,
  );
  const revoked = await flipstream(['oracle', 'key', 'revoke', key, '--after', 'none']);
  expect(revoked.out).toMatch(/nothing counts[\s\S]*baseline of demo-split-bill is gone/);
  expect((await flipstream(['oracle', 'key', 'export'])).json()).toMatchObject({
    keys: [{ key_id: key, revoked_after: { seq: -1 } }, {}],
  });
});

test('serve beyond this machine without TLS is refused, and so is half of it', async () => {
  const { flipstream } = operator();
  const plain = await flipstream(['oracle', 'serve', '--listen', '0.0.0.0:0']);
  expect(plain).toMatchObject({ code: 2, err: expect.stringMatching(/in the clear/) });
  const half = await flipstream(['oracle', 'serve', '--listen', '0.0.0.0:0', '--tls-cert', 'x']);
  expect(half).toMatchObject({ code: 2, err: expect.stringMatching(/both/) });
  const odd = await flipstream(['oracle', 'serve', '--listen', 'somewhere']);
  expect(odd).toMatchObject({ code: 2, err: expect.stringMatching(/neither/) });
});
