/** FLIPSTREAM_OFF and hooks over HTTP: the harness sends what its environment says, and a registration that does not is renewed. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { hookUrl } from '../../producers/our-hook.ts';
import { readSettings } from '../../producers/settings.ts';
import { loadConfig } from '../config.ts';
import { type Sandbox, sandbox } from '../testing.ts';
import { hooksOf, type Registration } from './registration.ts';
import { addHooks } from './settings.ts';
import { writeReceipt } from './settings-file.ts';

const SENT = { 'x-flipstream-off': '$FLIPSTREAM_OFF' };
const INIT = ['init', 'claude-code', '--yes', '--transport', 'http', '--force'];

let box: Sandbox;
let file: string;
beforeEach(() => {
  box = sandbox();
  file = join(box.root, 'claude', 'settings.json');
});
afterEach(() => box.remove());

const registration = (): Registration => {
  const { home } = loadConfig(box.env, {}, box.root);
  const { port = 0, token = '' } = readSettings(home).http ?? {};
  const base = { node: process.execPath, hook: home.hook, home: home.root };
  return { transport: 'http', ...base, url: hookUrl(port), token };
};
/** As 0.1.0 wrote it. */
const before = () =>
  JSON.parse(JSON.stringify(hooksOf(registration(), 'settings')), (key, value) => {
    if (key === 'allowedEnvVars') return undefined;
    return key === 'headers' ? { Authorization: value.Authorization } : value;
  });
const Report = z.object({ findings: z.array(z.object({ check: z.string(), state: z.string() })) });
/** What doctor says of registrations that do not tell of FLIPSTREAM_OFF. */
const silence = async () =>
  Report.parse((await box.flipstream(['doctor', '--json'])).json())
    .findings.filter(({ check }) => check === 'silence')
    .map(({ state }) => state);
const handlers = () =>
  Object.values<{ hooks: { type: string }[] }[]>(JSON.parse(readFileSync(file, 'utf8')).hooks).flatMap(
    (groups) => groups.flatMap(({ hooks }) => hooks),
  );

test('every handler over HTTP sends FLIPSTREAM_OFF', async () => {
  expect((await box.flipstream(INIT)).code).toBe(0);
  const http = handlers().filter(({ type }) => type === 'http');
  expect(http.length).toBeGreaterThan(20);
  for (const handler of http)
    expect(handler).toMatchObject({ headers: SENT, allowedEnvVars: ['FLIPSTREAM_OFF'] });
});

test.each(['as it was written', 'laid out anew since'])(
  'a registration of an earlier release, %s, is renewed and not doubled',
  async (how) => {
    await box.flipstream(INIT);
    const wanted = handlers();
    const { home } = loadConfig(box.env, {}, box.root);
    const { text, receipt } = addHooks(null, before(), {
      hook: home.hook,
      url: hookUrl(readSettings(home).http?.port ?? 0),
    });
    expect(text).not.toContain('FLIPSTREAM_OFF');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, how === 'as it was written' ? text : JSON.stringify(JSON.parse(text)));
    writeReceipt(home, { ...receipt, file });
    expect(await silence()).toEqual(['warning']);
    // Without the flag too, as doctor says: what goes over http stays there.
    expect((await box.flipstream(['init', 'claude-code', '--yes'])).out).toContain(`Wrote ${file}`);
    expect(handlers()).toEqual(wanted);
    expect(await silence()).toEqual([]);
  },
);

test('what was registered over http goes by command when that is asked for, and stays there', async () => {
  await box.flipstream(INIT);
  await box.flipstream(['init', 'claude-code', '--yes', '--transport', 'command']);
  expect(new Set(handlers().map(({ type }) => type))).toEqual(new Set(['command']));
  expect((await box.flipstream(['init', 'claude-code', '--yes'])).out).toContain('is as it should be');
});
