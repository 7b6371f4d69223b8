import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from './config.ts';
import { packageVersion } from './package.ts';
import { type Sandbox, sandbox } from './testing.ts';

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.remove());

describe('what a person gets', () => {
  test('a version, and help with exit 0', async () => {
    expect(await box.flipstream(['--version'])).toMatchObject({ code: 0, out: `${packageVersion()}\n` });
    expect(await box.flipstream(['--help'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('verify'),
    });
  });

  test.each([
    [['nope']],
    [['verify']],
    [['verify', 'a', '--what']],
    [['oracle', 'log', 'show', '--limit', 'x']],
    [['sessions', '--limit', '-1']],
    [['sessions', '--outcome', 'zzz']],
    [['flips', '--limit', '1.5']],
    [['up', '--metrics-port', '70000']],
    [['--oracle-home', 'x']],
  ])('%j is a usage error: exit 2, nothing on stdout, no stack', async (argv) => {
    const ran = await box.flipstream(argv);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).not.toMatch(/\n {4}at /);
  });

  test('errors as JSON with --json, a stack with FLIPSTREAM_DEBUG only', async () => {
    const ran = await box.flipstream(['verify', 'nothing', '--json']);
    expect(JSON.parse(ran.err)).toMatchObject({ error: { code: 'bundle_unreadable' } });
    expect((await box.flipstream(['verify', 'nothing'])).err).not.toContain('    at ');
    box.env.FLIPSTREAM_DEBUG = '1';
    expect((await box.flipstream(['verify', 'nothing'])).err).toContain('    at ');
  });

  test('pause and resume', async () => {
    expect((await box.flipstream(['pause', '--json'])).json()).toEqual({ paused: true, changed: true });
    expect(existsSync(join(box.root, 'home', 'paused'))).toBe(true);
    expect((await box.flipstream(['pause', '--json'])).json()).toEqual({ paused: true, changed: false });
    expect((await box.flipstream(['resume', '--json'])).json()).toEqual({ paused: false, changed: true });
    expect(existsSync(join(box.root, 'home', 'paused'))).toBe(false);
  });
});

describe('configuration', () => {
  test('flags win over the environment, and the whole is frozen', () => {
    const config = loadConfig({ FLIPSTREAM_HOME: '/a/home' }, { home: 'b' }, '/c');
    expect(config.home.root).toBe('/c/b');
    expect(loadConfig({ FLIPSTREAM_HOME: '/a/home' }, {}, '/c').oracleHome.root).toBe('/a/flipstream-oracle');
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('an oracle inside the agent side\u2019s home is refused', () => {
    const config = loadConfig({ FLIPSTREAM_HOME: '/a', FLIPSTREAM_ORACLE_HOME: '/a/oracle' }, {}, '/');
    expect(() => config.oracleHome).toThrow(/inside the agent side/);
  });

  test('a home that is a file is no empty home', async () => {
    const file = join(box.root, 'plain');
    writeFileSync(file, '');
    const ran = await box.flipstream(['status', '--home', file]);
    expect(ran).toMatchObject({ code: 2, out: '' });
  });

  test('a damaged config.json stops what needs it, and nothing else', async () => {
    const file = join(box.root, 'home', 'config.json');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '{"v": 1,');
    delete box.env.FLIPSTREAM_ORACLE_HOME;
    expect(await box.flipstream(['pause'])).toMatchObject({ code: 0 });
    for (const argv of [['oracle', 'task', 'list'], ['oracle', 'key', 'export'], ['up']]) {
      const ran = await box.flipstream(argv);
      expect(ran, argv.join(' ')).toMatchObject({ code: 2, out: '' });
      expect(ran.err).toContain(`${file} cannot be used`);
    }
  });
});
