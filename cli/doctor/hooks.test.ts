/** What doctor says of one settings file, and which init it names for it. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { pipe } from '../../producers/git/testing.ts';
import { type Sandbox, sandbox } from '../testing.ts';

const Report = z.object({
  findings: z.array(
    z.object({ check: z.string(), state: z.string(), message: z.string(), mend: z.string().optional() }),
  ),
});

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.remove());

const init = (...flags: string[]) => box.flipstream(['init', 'claude-code', '--yes', ...flags]);
const found = async (name: string) =>
  Report.parse((await box.flipstream(['doctor', '--json'])).json()).findings.filter(
    ({ check, state }) => check === name && state !== 'ok',
  );
const mends = async (name: string) => (await found(name)).map(({ mend }) => mend);
const edit = (file: string, change: (settings: { hooks: Record<string, unknown[]> }) => void) => {
  const settings = JSON.parse(readFileSync(file, 'utf8'));
  change(settings);
  writeFileSync(file, JSON.stringify(settings));
};

test.each([
  ['claude/settings.json', [], 'Run: flipstream init claude-code'],
  ['.claude/settings.local.json', ['--project'], 'Run: flipstream init claude-code --project'],
  [
    '.claude/settings.json',
    ['--settings', '.claude/settings.json'],
    /^Run: .* --settings \/.*settings\.json$/,
  ],
])('what is wrong in %s is mended there', async (name, flags, mend) => {
  const file = join(box.root, name);
  await init(...flags);
  edit(file, ({ hooks }) => {
    delete hooks.Stop;
    hooks.Setup?.push(...(hooks.Setup ?? []));
  });
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(process.execPath, '/gone/node'));
  rmSync(join(box.root, 'home', 'hook', 'hook.cjs'));
  const told = [typeof mend === 'string' ? mend : expect.stringMatching(mend)];
  for (const check of ['events', 'registration', 'hook-node', 'hook'])
    expect(await mends(check), check).toEqual(told);
  await init(...((await mends('events'))[0] ?? '').split(' ').slice(4));
  for (const check of ['events', 'registration', 'hook-node', 'hook'])
    expect(await found(check), check).toEqual([]);
});

test.each([
  ['the header', 'headers', { Authorization: 'Bearer x' }],
  ['another value in it', 'headers', { Authorization: 'Bearer x', 'x-flipstream-off': '1' }],
  ['the leave to put the variable in', 'allowedEnvVars', ['OTHER']],
  ['any such leave', 'allowedEnvVars', undefined],
])('http without what makes FLIPSTREAM_OFF known is told: %s', async (_, name, value) => {
  await init('--transport', 'http', '--force');
  expect(await found('silence')).toEqual([]);
  const file = join(box.root, 'claude', 'settings.json');
  const Handlers = z.array(z.object({ hooks: z.array(z.record(z.string(), z.unknown())) }));
  edit(file, (settings) => {
    const groups = Handlers.parse(settings.hooks.Notification);
    for (const handler of groups.flatMap(({ hooks }) => hooks)) handler[name] = value;
    settings.hooks.Notification = groups;
  });
  expect(await mends('silence')).toEqual(['Run: flipstream init claude-code']);
  await init();
  expect(await found('silence')).toEqual([]);
});

test('a named pipe in the place of a project’s settings is told, and not waited for', async () => {
  await init();
  mkdirSync(join(box.root, '.claude'));
  pipe(join(box.root, '.claude', 'settings.local.json'));
  expect(await found('settings')).toHaveLength(1);
  const ran = await init('--project');
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining('no plain file') });
});
