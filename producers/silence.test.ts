import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type CaptureContext, capture, captureTooLarge } from './capture.ts';
import { rememberSession } from './gate/session-file.ts';
import { type Home, layout } from './home.ts';
import { isSilenced, saysOff } from './silence.ts';

let root: string;
let home: Home;
let project: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'flipstream-silence-'));
  home = layout(join(root, 'home'));
  project = join(root, 'project', 'deep');
  mkdirSync(join(root, 'project', '.flipstream'), { recursive: true });
  mkdirSync(project);
  writeFileSync(join(root, 'project', '.flipstream', 'off'), '');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const context = (): CaptureContext => ({
  hash: () => 'h',
  limit: 1000,
  clock: () => 0,
  registration: 'settings',
  transport: 'command',
  openKeys: { isOpen: () => false, set: () => {} },
  readRules: () => null,
  silenced: (source) => isSilenced(home, source),
});

test('a repository that opted out is not recorded: whole, cut-off and too large payloads', () => {
  const payload = JSON.stringify({
    session_id: 's',
    cwd: project,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'hi',
  });
  expect(capture(payload, context())).toBeNull();
  expect(capture(payload.slice(0, -5), context())).toBeNull();
  const beginning = Buffer.from(payload.slice(0, -5));
  expect(captureTooLarge({ beginning, bytes: 10 ** 9, hash: 'h' }, context())).toBeNull();
  expect(capture(payload.replaceAll(project, root), context())).not.toBeNull();
});

test('a session that began with a task cannot be silenced from its own repository', () => {
  const source = { cwd: project, sessionId: 's' };
  const facts = { base_commit: 'b', worktree: project, base_matches: true };
  rememberSession(home, 's', { task_id: 't', ...facts });
  expect(isSilenced(home, source)).toBe(false);
  rememberSession(home, 'free', { task_id: null, ...facts });
  expect(isSilenced(home, { ...source, sessionId: 'free' })).toBe(true);
  writeFileSync(home.paused, '');
  expect(isSilenced(home, source)).toBe(true);
});

test('FLIPSTREAM_OFF silences with any value but none and 0, whatever white space a header lost', () => {
  const values = [undefined, '', ' ', '0', ' 0', '1', 'false', '00'];
  expect(values.filter(saysOff)).toEqual(['1', 'false', '00']);
});
