import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../config.ts';
import { type Sandbox, sandbox } from '../testing.ts';
import { doubles } from './doubles.ts';
import { HARNESSES } from './harnesses.ts';

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
  box.env.HOME = join(box.root, 'user');
});
afterEach(() => box.remove());

const THEIRS: Readonly<Record<string, string>> = {
  codex: '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}}',
  gemini: '{\n  // mine\n  "theme": "dark",\n  "hooks": {"AfterTool": []}\n}\n',
  cursor: '{"version": 1, "hooks": {"stop": [{"command": "./done.sh"}]}}\n',
  openhands: '{"hooks": {}}',
};

describe.each(HARNESSES.map((setup) => [setup.name, setup] as const))('%s', (name, { targets }) => {
  const files = () => targets(loadConfig(box.env, {}, box.root), process.execPath);

  test('init registers, is idempotent, and undo gives back what was there', async () => {
    const [first] = files();
    const theirs = THEIRS[name];
    if (first && theirs !== undefined) {
      mkdirSync(dirname(first.file), { recursive: true });
      writeFileSync(first.file, theirs);
    }
    const ran = await box.flipstream(['init', name, '--yes']);
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(ran.err.split('\n').length).toBeLessThanOrEqual(26 * files().length);
    const written = files().map(({ file }) => readFileSync(file, 'utf8'));
    for (const text of written) expect(text).toContain(join(box.root, 'home', 'hook', 'hook.cjs'));
    expect((await box.flipstream(['init', name, '--yes'])).err).toBe('');
    expect(files().map(({ file }) => readFileSync(file, 'utf8'))).toEqual(written);
    await box.flipstream(['init', name, '--undo', '--yes']);
    const left = files().map(({ file }) => (existsSync(file) ? readFileSync(file, 'utf8') : null));
    expect(left).toEqual(files().map((_, at) => (at === 0 && theirs !== undefined ? theirs : null)));
  });
});

test('each harness gets its own unit of time, and a stop the time that the oracle needs', () => {
  const config = loadConfig(box.env, {}, box.root);
  const text = (name: string) => {
    const setup = HARNESSES.find((one) => one.name === name);
    return JSON.stringify(setup?.targets(config, '/n/node'));
  };
  expect(text('codex')).toMatch(/"Stop":\[\{"hooks":\[\{"type":"command","command":"[^"]+","timeout":600\}/);
  expect(text('codex')).toMatch(
    /"SessionEnd":\[\{"hooks":\[\{"type":"command","command":"[^"]+","timeout":3\}/,
  );
  expect(text('gemini')).toMatch(/"AfterAgent":\[\{"hooks":\[\{[^}]+"timeout":600000\}/);
  expect(text('cursor')).toMatch(/"stop":\[\{"command":"[^"]+","timeout":600,"loop_limit":20\}/);
  expect(text('copilot')).toContain('\\"timeoutSec\\": 600');
});

test('a file that init would write as a whole and that is somebody’s stays', async () => {
  const file = join(box.root, 'user', '.cline', 'hooks', 'TaskStart');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '#!/bin/sh\necho mine\n');
  const ran = await box.flipstream(['init', 'cline', '--yes', '--json']);
  expect(ran.code).toBe(2);
  expect(ran.err).toContain('"code":"file_not_ours"');
  expect(readFileSync(file, 'utf8')).toBe('#!/bin/sh\necho mine\n');
});

test('what Cline runs itself can be run, by its owner alone', async () => {
  await box.flipstream(['init', 'cline', '--yes']);
  expect(statSync(join(box.root, 'user', '.cline', 'hooks', 'PostToolUse')).mode & 0o777).toBe(0o700);
});

test('a harness that also runs Claude Code’s hooks, registered with both: said once, with what to keep', async () => {
  const config = () => loadConfig(box.env, {}, box.root);
  await box.flipstream(['init', 'claude-code', '--yes']);
  expect(doubles(config())).toEqual([]);
  expect((await box.flipstream(['init', 'cursor', '--yes'])).out).toContain('Keep Cursor’s own, ');
  await box.flipstream(['init', 'copilot', '--yes']);
  expect(doubles(config()).map((one) => one.split(' also ')[0])).toEqual(['Cursor']);
  await box.flipstream(['init', 'claude-code', '--project', '--yes']);
  expect(doubles(config()).map((one) => one.split(' also ')[0])).toEqual(['Cursor', 'GitHub Copilot CLI']);
  const found = await box.flipstream(['doctor', '--json']);
  expect(found.out).toContain('Cursor also runs the hooks of');
  expect(found.out).toContain('Keep Cursor’s own, ');
  // what is proposed ends it, and keeps the harness's own
  const [, proposed = ''] = /Keep Copilot’s own, [^:]*: flipstream (.*?), then/.exec(found.out) ?? [];
  expect((await box.flipstream([...proposed.split(' '), '--yes'])).code).toBe(0);
  expect(doubles(config()).map((one) => one.split(' also ')[0])).toEqual(['Cursor']);
  expect((await box.flipstream(['doctor'])).out).toContain('GitHub Copilot CLI is connected');
});

test('a project gets its local settings, never the shared ones: they would carry paths of this machine', async () => {
  await box.flipstream(['init', 'claude-code', '--project', '--yes']);
  expect(existsSync(join(box.root, '.claude', 'settings.json'))).toBe(false);
  expect(readFileSync(join(box.root, '.claude', 'settings.local.json'), 'utf8')).toContain('hook.cjs');
});

test('doctor knows what init has registered, also when somebody has laid the file out anew', async () => {
  const folder = join(box.root, 'bin');
  mkdirSync(folder);
  writeFileSync(join(folder, 'gemini'), '#!/bin/sh\necho 0.61.0\n', { mode: 0o755 });
  box.env.PATH = `${folder}:${box.env.PATH}`;
  const said = async () =>
    (await box.flipstream(['doctor'])).out.split('\n').find((line) => / gemini: /.test(line));
  expect(await said()).toContain('not connected');
  await box.flipstream(['init', 'gemini', '--yes']);
  const file = join(box.root, 'user', '.gemini', 'settings.json');
  writeFileSync(file, JSON.stringify(JSON.parse(readFileSync(file, 'utf8'))));
  expect(await said()).toMatch(
    /^ok .*Gemini CLI 0\.61\.0 is connected; nothing was heard of it yet\. Tested with 0\.61\.0\./,
  );
  writeFileSync(file, readFileSync(file, 'utf8').replace('600000', '60000'));
  expect(await said()).toMatch(/^PROBLEM /);
});
