/** Registrations over HTTP that neither a receipt nor the home's port tells of any more. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { loadConfig } from '../config.ts';
import { type Sandbox, sandbox } from '../testing.ts';
import { handlersIn, urlOf } from './ours.ts';
import { hooksOf } from './registration.ts';
import { addHooks } from './settings.ts';
import { writeReceipt } from './settings-file.ts';
import { shellLine, wordsOf } from './shell-line.ts';

const HTTP = ['--transport', 'http', '--force'];
const THEIRS = { type: 'http', url: 'http://127.0.0.1:4100/audit', headers: { Authorization: 'Bearer x' } };
/** As ours, but for the token: an address that others may have chosen, too. */
const ALIKE = { ...THEIRS, url: 'http://127.0.0.1:4100/hook' };

let box: Sandbox;
let file: string;
beforeEach(() => {
  box = sandbox();
  file = join(box.root, 'claude', 'settings.json');
});
afterEach(() => box.remove());

const init = async (...flags: string[]) => {
  const ran = await box.flipstream(['init', 'claude-code', '--yes', ...flags]);
  expect(ran, ran.err).toMatchObject({ code: 0 });
  return ran;
};
const text = () => readFileSync(file, 'utf8');
const posting = () =>
  handlersIn(text())
    .map(urlOf)
    .filter((url) => url !== null);
const running = () => handlersIn(text()).filter((handler) => urlOf(handler) === null);
const Report = z.object({
  findings: z.array(z.object({ check: z.string(), state: z.string(), mend: z.string().optional() })),
});
/** What doctor says of the registration. */
const doctor = async () =>
  Report.parse((await box.flipstream(['doctor', '--json'])).json())
    .findings.filter(({ check }) => ['registration', 'http-port', 'events'].includes(check))
    .map(({ check, state }) => `${check}: ${state}`);
/** Others' hooks, put in by hand beside ours. */
const withTheirs = () => {
  const settings = JSON.parse(text());
  settings.hooks.Notification.unshift({ hooks: [THEIRS, ALIKE] });
  writeFileSync(file, JSON.stringify(settings));
};
const forgetHome = () => {
  for (const name of ['home', 'oracle']) rmSync(join(box.root, name), { recursive: true });
};

test('settings of before the transport was changed, put back since, are renewed and not doubled', async () => {
  await init(...HTTP);
  withTheirs();
  const restored = text();
  await init('--transport', 'command');
  writeFileSync(file, restored);
  const { length } = handlersIn(restored);
  await init();
  expect(handlersIn(text())).toHaveLength(length);
  expect(await doctor()).toEqual(['registration: ok']);
  expect((await init()).out).toContain('is as it should be');
  writeFileSync(file, restored);
  await init('--transport', 'command');
  expect(posting()).toEqual([THEIRS.url, ALIKE.url]);
  writeFileSync(file, restored);
  await init('--undo');
  expect(handlersIn(text())).toEqual([THEIRS, ALIKE]);
});

test('what a home that is gone registered is told of, and goes with init', async () => {
  await init(...HTTP);
  withTheirs();
  const lost = text();
  forgetHome();
  expect(await doctor()).toContain('http-port: problem');
  await init();
  expect(posting()).toEqual([THEIRS.url, ALIKE.url]);
  expect(await doctor()).toEqual(['registration: ok']);
  writeFileSync(file, lost);
  await init('--undo');
  expect(handlersIn(text())).toEqual([THEIRS, ALIKE]);
});

test('what an earlier init left doubled goes with undo, although nobody has touched the file since', async () => {
  await init(...HTTP);
  const stale = JSON.stringify(JSON.parse(text()).hooks.Notification);
  await init('--undo');
  const before = `{"hooks": {"Notification": ${stale}}}`;
  // as init of 0.1.0 did, which knew only its own port
  const { home } = loadConfig(box.env, {}, box.root);
  const base = { node: process.execPath, hook: home.hook, home: home.root };
  const added = addHooks(before, hooksOf({ transport: 'command', ...base }, 'settings'), {
    hook: home.hook,
    url: null,
  });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, added.text);
  writeReceipt(home, { ...added.receipt, file });
  await init('--undo');
  expect(JSON.parse(text())).toEqual({ hooks: { Notification: [] } });
});

test('what another home listens to, whose hook the file runs too, is that home’s', async () => {
  await init(...HTTP);
  const other = handlersIn(text());
  const home = box.env.FLIPSTREAM_HOME;
  box.env.FLIPSTREAM_HOME = join(box.root, 'second home');
  expect(await doctor()).toEqual(['registration: problem']);
  await init(...HTTP);
  expect(handlersIn(text())).toEqual(expect.arrayContaining(other));
  expect(handlersIn(text())).toHaveLength(2 * other.length);
  expect(await doctor()).toEqual(['registration: ok']);
  box.env.FLIPSTREAM_HOME = home;
  await init('--undo');
  box.env.FLIPSTREAM_HOME = join(box.root, 'second home');
  expect(handlersIn(text())).toHaveLength(other.length);
  expect(await doctor()).toEqual(['registration: ok']);
});

test('http is seen however its JSON is written', async () => {
  await init(...HTTP);
  const before = [posting(), running()];
  writeFileSync(file, text().replaceAll('/', '\\/'));
  await init();
  expect([posting(), running()]).toEqual(before);
});

test('a line for a shell comes apart as it was put together', () => {
  const words = ['/opt/my node', '--v8-pool-size=0', "/it's/hook.cjs", "'", 'plain'];
  expect(wordsOf(shellLine(words))).toEqual(words);
});
