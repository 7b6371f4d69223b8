/** What a hook takes from around it: its environment, the home's settings, the run it belongs to. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hear } from '../capture.ts';
import { readEnvironment } from './env.ts';
import { readHookSettings } from './hook-settings.ts';
import { runFacts, runFile } from './run-facts.ts';
import { hookInProcess, type Place, spooled, temporaryHome } from './testing.ts';

let place: Place;
beforeEach(() => {
  place = temporaryHome();
  mkdirSync(place.home.root, { recursive: true });
});
afterEach(() => place.remove());

const DEFAULTS = { fieldLimit: 65_536, collector: null, httpPort: null };

test('the run that started the harness, and the session that its attempts are recorded in', () => {
  const run = (env: NodeJS.ProcessEnv) => readEnvironment('/h', env).run;
  const session = { FLIPSTREAM_RUN: 'r-1', FLIPSTREAM_RUN_SESSION: 's' };
  expect(run({ ...session, FLIPSTREAM_RUN_HARNESS: 'cline' })).toEqual({
    ...{ id: 'r-1', session: { id: 's', harness: 'cline' } },
  });
  // without knowing whose the session is nothing can be of it
  expect(run(session)).toEqual({ id: 'r-1', session: null });
  expect(run({ FLIPSTREAM_RUN: 'r-1', FLIPSTREAM_RUN_SESSION: '' })).toEqual({ id: 'r-1', session: null });
  expect(run({ FLIPSTREAM_RUN: '../r' })).toBeNull();
  expect(run({})).toBeNull();
});

test('a session of a run names the run, and its own id where it is recorded under another', () => {
  const run = { id: 'r-1', session: { id: 'first', harness: 'claude-code' } };
  const payload = { session_id: 'second', hook_event_name: 'SessionStart', cwd: '/w' };
  const heard = { ...hear(Buffer.from(JSON.stringify(payload))), sessionId: 'first' };
  expect(runFacts(place.home, run, heard)).toEqual({ run_id: 'r-1', original_id: 'second' });
  expect(runFacts(place.home, run, { ...heard, sessionId: 'second' })).toEqual({ run_id: 'r-1' });
  const lines = readFileSync(runFile(place.home, 'r-1'), 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { session_id: 'first', harness: 'claude-code', cwd: '/w' },
    { session_id: 'second', harness: 'claude-code', cwd: '/w' },
  ]);
});

test('a run\u2019s session takes what its own harness tells, and nothing of another that the agent starts', async () => {
  const run = { id: 'r-1', session: { id: 'cline-first', harness: 'cline' } };
  const environment = { ...readEnvironment(place.home.root, {}), run };
  const cline = { clineVersion: '3', hookName: 'TaskStart', timestamp: '1', taskId: 'cline-second' };
  const claude = { session_id: 'claude-nested', hook_event_name: 'UserPromptSubmit', prompt: 'x', cwd: '/w' };
  const unknown = { session_id: 'some-nested', event: 'start' };
  for (const payload of [cline, claude, unknown])
    await hookInProcess(place.home, JSON.stringify(payload), { environment });
  expect(spooled(place.home).map(({ harness, session_id }) => [harness, session_id])).toEqual([
    ['cline', 'cline-first'],
    ['claude-code', 'claude-nested'],
    ['unknown', 'some-nested'],
  ]);
});

test('the home\u2019s settings, or the defaults where they cannot be used', () => {
  expect(readHookSettings(place.home)).toEqual(DEFAULTS);
  for (const text of ['{', 'null', '[]', '7', '{"field_limit": -1, "collector": {"node": 1}}']) {
    writeFileSync(place.home.config, text);
    expect(readHookSettings(place.home), text).toEqual(DEFAULTS);
  }
  const collector = { node: '/node', cli: ['/cli'] };
  writeFileSync(
    place.home.config,
    JSON.stringify({ field_limit: 100, collector, http: { port: 7341, token: 't' } }),
  );
  expect(readHookSettings(place.home)).toEqual({ fieldLimit: 100, collector, httpPort: 7341 });
});

test('a field is cut at the limit that the settings name', async () => {
  writeFileSync(place.home.config, JSON.stringify({ field_limit: 100 }));
  const prompt = 'word '.repeat(100);
  await hookInProcess(
    place.home,
    JSON.stringify({ session_id: 's', hook_event_name: 'UserPromptSubmit', prompt, cwd: '/none' }),
  );
  const [entry] = spooled(place.home);
  expect(entry?.drafts[0]?.content.text).toMatchObject({ bytes: 500, cut: true });
  // with the words that say that it was cut
  expect(entry?.drafts[0]?.content.text?.text.length).toBeLessThan(150);
});
