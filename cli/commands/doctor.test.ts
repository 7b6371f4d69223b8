import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { layout } from '../../producers/home.ts';
import { readSettings } from '../../producers/settings.ts';
import { checkNode } from '../doctor/machine.ts';
import { checkOracle } from '../doctor/oracle.ts';
import { writeHomeConfig } from '../init/home-config.ts';
import { type Sandbox, sandbox } from '../testing.ts';

const Report = z.object({
  ok: z.boolean(),
  findings: z.array(
    z.object({ check: z.string(), state: z.string(), message: z.string(), mend: z.string().optional() }),
  ),
});

let box: Sandbox;
beforeEach(async () => {
  box = sandbox();
  await box.flipstream(['init', 'claude-code', '--yes']);
});
afterEach(() => box.remove());

/** States by check. */
async function doctor(): Promise<Record<string, string>> {
  const report = Report.parse((await box.flipstream(['doctor', '--json'])).json());
  for (const finding of report.findings)
    if (finding.state !== 'ok') expect(finding.mend, finding.check).toBeTruthy();
  return Object.fromEntries(report.findings.map((finding) => [finding.check, finding.state]));
}

test('right after init only what is not started is a problem', async () => {
  const found = await doctor();
  // Whether this user may open the engine's socket is the test machine's own affair; it has a test below.
  const problems = Object.keys(found).filter((check) => found[check] === 'problem' && check !== 'docker');
  expect(problems).toEqual(['collector', 'oracle']);
  expect((await box.flipstream(['doctor'])).code).toBe(1);
});

test('a hook of another release, gone or registered for some events only', async () => {
  const home = layout(join(box.root, 'home'));
  writeFileSync(home.hook, 'old');
  const file = join(box.root, 'claude', 'settings.json');
  const settings = JSON.parse(readFileSync(file, 'utf8'));
  delete settings.hooks.Stop;
  writeFileSync(file, JSON.stringify(settings).replaceAll(process.execPath, '/gone/node'));
  expect(await doctor()).toMatchObject({ hook: 'problem', events: 'problem', 'hook-node': 'problem' });
  rmSync(home.hook);
  expect(await doctor()).toMatchObject({ hook: 'problem' });
});

test('a team without Claude Code is not asked to have it', async () => {
  const without = sandbox();
  without.env.HOME = join(without.root, 'user');
  const bin = join(without.root, 'bin');
  mkdirSync(bin);
  without.env.PATH = bin;
  const states = async () => {
    const { findings } = Report.parse((await without.flipstream(['doctor', '--json'])).json());
    return Object.fromEntries(findings.map(({ check, state }) => [check, state]));
  };
  expect(await states()).toMatchObject({ registration: 'problem', claude: 'warning' });
  await without.flipstream(['init', 'gemini', '--yes']);
  const found = await states();
  expect(found).toMatchObject({ registration: 'ok', hook: 'ok', gemini: 'ok' });
  expect(found).not.toHaveProperty('claude');
  without.remove();
});

test('C4 registered twice, by settings of two places or by the plugin, is told', async () => {
  mkdirSync(join(box.root, '.claude'));
  writeFileSync(
    join(box.root, '.claude', 'settings.json'),
    '{"enabledPlugins": {"flipstream@flipstream": true}}',
  );
  expect(await doctor()).toMatchObject({ registration: 'warning' });
  expect((await box.flipstream(['doctor'])).out).toContain('disable the plugin in /plugin.');
  const project = join(box.root, '.claude', 'settings.json');
  await box.flipstream(['init', 'claude-code', '--yes', '--settings', project]);
  writeFileSync(project, readFileSync(project, 'utf8').replace('true', 'false'));
  const told = (await box.flipstream(['doctor'])).out;
  expect(told).toContain(`Keep the first: flipstream init claude-code --undo --settings ${project}`);
  writeFileSync(join(box.root, '.claude', 'settings.json'), '{"disableAllHooks": true}');
  expect(await doctor()).toMatchObject({ registration: 'ok', settings: 'problem' });
  writeFileSync(join(box.root, '.claude', 'settings.json'), '{');
  expect(await doctor()).toMatchObject({ settings: 'problem' });
  rmSync(join(box.root, '.claude'), { recursive: true });
  const file = join(box.root, 'claude', 'settings.json');
  const settings = JSON.parse(readFileSync(file, 'utf8'));
  settings.hooks.Stop.push(settings.hooks.Stop[0]);
  writeFileSync(file, JSON.stringify(settings));
  expect(await doctor()).toMatchObject({ registration: 'warning' });
  await box.flipstream(['init', 'claude-code', '--yes']);
  expect(await doctor()).toMatchObject({ registration: 'ok' });
});

test('keys open to others, a key ring without our oracle, a broken configuration', async () => {
  const home = layout(join(box.root, 'home'));
  chmodSync(home.config, 0o644);
  writeFileSync(home.keyRing, '{"v":1,"keys":[]}');
  expect(await doctor()).toMatchObject({ permissions: 'problem', 'key-ring': 'problem' });
  writeFileSync(home.keyRing, '{');
  writeFileSync(home.config, '{');
  expect(await doctor()).toMatchObject({ config: 'problem', 'key-ring': 'problem' });
});

test('a task whose base is not HEAD, and a project that opts out', async () => {
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      cwd: box.root,
      stdio: 'pipe',
    });
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'one');
  const head = git('rev-parse', 'HEAD').toString().trim();
  mkdirSync(join(box.root, '.flipstream'));
  const choose = (config: object) =>
    writeFileSync(join(box.root, '.flipstream', 'config.json'), JSON.stringify(config));
  choose({ task_id: 't', base_commit: head });
  expect(await doctor()).toMatchObject({ task: 'ok' });
  choose({ task_id: 't', base_commit: 'a'.repeat(40) });
  expect(await doctor()).toMatchObject({ task: 'warning' });
  choose({ off: true });
  expect(await doctor()).toMatchObject({ task: 'warning' });
});

test('paused, and switched off', async () => {
  await box.flipstream(['pause']);
  expect(await doctor()).toMatchObject({ silenced: 'warning' });
  await box.flipstream(['resume']);
  box.env.FLIPSTREAM_OFF = '1';
  expect(await doctor()).toMatchObject({ silenced: 'warning' });
});

test('an oracle that answers, and one that does not know the token', async () => {
  const server = createServer((request, response) =>
    response.writeHead(request.headers.authorization === 'Bearer good' ? 404 : 401).end(),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  expect(await checkOracle({ url, token: 'good' })).toMatchObject({ state: 'ok' });
  expect(await checkOracle({ url, token: 'bad' })).toMatchObject({
    state: 'problem',
    mend: expect.stringContaining('--rotate'),
  });
  server.close();
});

test('an old Node', () => {
  expect(checkNode('20.1.0')).toMatchObject({ state: 'problem' });
});

test('settings of other parts survive init', async () => {
  const home = layout(join(box.root, 'home'));
  writeHomeConfig(home, { ...readSettings(home), quiet_ms: 5, of_another_release: { kept: true } });
  await box.flipstream(['init', 'claude-code', '--yes']);
  expect(readSettings(home)).toMatchObject({ quiet_ms: 5, of_another_release: { kept: true } });
});
