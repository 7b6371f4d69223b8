import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HARNESSES } from '../cli/init/harnesses.ts';
import { configHash } from './config-hash.ts';
import { put, remove, temporary } from './git/testing.ts';
import { type HarnessFolders, harnessFolders } from './harness-folders.ts';
import { layout } from './home.ts';
import { hookProcess, spooled } from './hook/testing.ts';

let root: string;
beforeEach(() => {
  root = temporary();
});
afterEach(() => remove(root));

const HOOK = '/home/x/.local/state/flipstream/hook/hook.cjs';
const OURS = { hook: HOOK, url: 'http://127.0.0.1:7341/hook' };

test('rules and settings of project and person count, other files do not', () => {
  const top = join(root, 'top');
  const folders = harnessFolders({ HOME: join(root, 'home') });
  const hash = () => configHash(top, folders, OURS);
  const seen = new Set<string | null>([hash()]);
  expect(hash()).toBeNull();
  put(top, 'src/x.ts', 'x');
  expect(hash()).toBeNull();
  const files = [
    'top/CLAUDE.md',
    'top/AGENTS.md',
    'top/.claude/rules/deep/a.md',
    'top/.mcp.json',
    'home/.claude/CLAUDE.md',
  ];
  for (const file of files) {
    put(root, file, '{"a":1}');
    expect(seen.has(hash())).toBe(false);
    seen.add(hash());
  }
  put(top, 'CLAUDE.md', 'other');
  expect(seen.has(hash())).toBe(false);
  expect(configHash(top, null, OURS)).not.toBe(hash());
});

/** By each harness's own variable, and the same hash wherever it points. */
test.each([
  ['CLAUDE_CONFIG_DIR', '', '.claude', ['CLAUDE.md', 'settings.json', 'rules/a.md', 'commands/b.md']],
  ['CODEX_HOME', '', '.codex', ['AGENTS.md', 'config.toml', 'hooks.json']],
  ['XDG_CONFIG_HOME', 'opencode', '.config/opencode', ['AGENTS.md', 'opencode.json']],
  ['GEMINI_CLI_HOME', '.gemini', '.gemini', ['GEMINI.md', 'settings.json']],
  ['COPILOT_HOME', '', '.copilot', ['copilot-instructions.md', 'hooks/lint.json']],
])('%s is where a harness looks', (variable, below, usual, names) => {
  const HOME = join(root, 'home');
  const moved = join(root, 'moved');
  const of = (env: NodeJS.ProcessEnv) => configHash(join(root, 'top'), harnessFolders(env), OURS);
  for (const name of names) {
    put(root, join('moved', below, name), '{"a":1}');
    expect(of({ HOME, [variable]: moved }), name).toMatch(/^[0-9a-f]{64}$/);
    expect(of({ HOME }), name).not.toBe(of({ HOME, [variable]: moved }));
    put(root, join('home', usual, name), '{"a":1}');
    expect(of({ HOME }), name).toBe(of({ HOME, [variable]: moved }));
  }
  put(root, join('home', usual, names[0] ?? ''), 'not looked at');
  expect(of({ HOME, [variable]: moved })).not.toBe(of({ HOME }));
});

test('our own hook entries do not count, other hooks do; order of keys does not', () => {
  const hash = (settings: object) => {
    put(root, '.claude/settings.json', JSON.stringify(settings));
    return configHash(root, null, OURS);
  };
  const stop = (...hooks: object[]) => ({ hooks: { Stop: [{ matcher: '*', hooks }] } });
  const theirs = { type: 'command', command: 'lint' };
  for (const ours of [
    { type: 'command', command: '/anywhere/node', args: [HOOK] },
    { type: 'command', command: `/anywhere/node --v8-pool-size=0 ${HOOK} --registration settings` },
    { type: 'http', url: OURS.url, headers: { Authorization: 'Bearer rotates' } },
  ]) {
    expect(hash(stop(ours))).toBeNull();
    expect(hash({ model: 'm', ...stop(ours) })).toBe(hash({ model: 'm' }));
    expect(hash(stop(theirs, ours))).toBe(hash(stop(theirs)));
  }
  expect(hash({ a: 1, b: 2 })).toBe(hash({ b: 2, a: 1 }));
  expect(hash(stop(theirs))).not.toBe(hash({}));
});

test('a hook of others counts though our name stands in it', () => {
  const hash = (command: string) => {
    put(
      root,
      '.claude/settings.json',
      JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command }] }] } }),
    );
    return configHash(root, null, OURS);
  };
  const [one, two] = [hash('/opt/my-flipstream-lint.sh'), hash('/opt/my-flipstream-lint.sh --fix')];
  expect(one).toMatch(/^[0-9a-f]{64}$/);
  expect(two).not.toBe(one);
});

/** What init makes for these is one JSON file of hooks, made anew where there is none. */
test.each(['codex', 'gemini', 'cursor', 'copilot', 'openhands'] as const)(
  'init %s changes nothing in it',
  (harness) => {
    const folders: HarnessFolders = harnessFolders({ HOME: join(root, 'home') });
    const home = layout(join(root, 'state'));
    const setup = HARNESSES.find(({ name }) => name === harness);
    const targets = setup?.targets({ home, folders }, '/usr/bin/node') ?? [];
    expect(targets).toHaveLength(1);
    const hash = () => configHash(join(root, 'top'), folders, { hook: home.hook, url: null });
    for (const target of targets) {
      const hooks = target.kind === 'entries' ? { version: 1, hooks: target.hooks } : null;
      put(target.file, '', hooks ? JSON.stringify(hooks) : target.kind === 'whole' ? target.text : '');
      expect(hash()).toBeNull();
      put(target.file, '', JSON.stringify({ ...hooks, mcp: {}, theme: 'dark' }));
      expect(hash()).not.toBeNull();
    }
  },
);

test('the hook looks where Claude Code looks', async () => {
  const home = layout(join(root, 'state'));
  const start = { hook_event_name: 'SessionStart', source: 'startup', cwd: root };
  put(root, 'elsewhere/CLAUDE.md', 'Be brief.');
  const hook = (session_id: string, env: Record<string, string> = {}) =>
    hookProcess(home, JSON.stringify({ ...start, session_id }), { env });
  await hook('s1');
  await hook('s2', { CLAUDE_CONFIG_DIR: join(root, 'elsewhere') });
  const found = spooled(home).map(({ drafts }) => drafts[0]?.fields.config_hash);
  expect(found).toEqual([null, expect.stringMatching(/^[0-9a-f]{64}$/)]);
});
