/** What `doctor` says of each harness: hooks there, trusted, heard of, of a release that was tested. */
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { layout } from '../../producers/home.ts';
import { loadConfig } from '../config.ts';
import { type Sandbox, sandbox } from '../testing.ts';
import type { Finding } from './finding.ts';
import { checkHarnesses } from './harnesses.ts';
import { checkClaude } from './machine.ts';
import { checkLastEvent } from './state.ts';

const NOW = Date.parse('2026-11-29T12:00:00.000Z');

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
  box.env.HOME = join(box.root, 'user');
  mkdirSync(join(box.root, 'bin'));
  box.env.PATH = `${join(box.root, 'bin')}:${box.env.PATH}`;
});
afterEach(() => box.remove());

function program(name: string, text: string): void {
  writeFileSync(join(box.root, 'bin', name), text, { mode: 0o755 });
}

function heard(harness: string, minutes: number, capture = 'same_user'): void {
  const { traces } = layout(join(box.root, 'home'));
  mkdirSync(traces, { recursive: true });
  const file = join(traces, `${harness} ${capture}.jsonl`);
  writeFileSync(file, `${JSON.stringify({ capture, harness })}\n`);
  const then = (NOW - minutes * 60_000) / 1000;
  utimesSync(file, then, then);
}

async function found(check: string): Promise<Finding | undefined> {
  const findings = await checkHarnesses(loadConfig(box.env, {}, box.root), box.env, () => NOW);
  return findings.find((finding) => finding.check === check);
}

test('not here and not connected: nothing; here alone: how to connect it', async () => {
  expect(await found('gemini')).toBeUndefined();
  program('gemini', '#!/bin/sh\necho 0.61.0\n');
  expect(await found('gemini')).toMatchObject({
    state: 'ok',
    message: expect.stringContaining('not connected'),
  });
});

test('connected, and when its hooks last fired', async () => {
  program('gemini', '#!/bin/sh\necho 0.61.0\n');
  await box.flipstream(['init', 'gemini', '--yes']);
  const message = 'Gemini CLI 0.61.0 is connected; nothing was heard of it yet. Tested with 0.61.0.';
  expect(await found('gemini')).toEqual({ check: 'gemini', state: 'ok', message });
  heard('gemini', 7);
  heard('codex', 1);
  expect((await found('gemini'))?.message).toContain('last heard 7 min ago');
});

test('what was imported was heard of by no hook', async () => {
  const home = layout(join(box.root, 'home'));
  program('gemini', '#!/bin/sh\necho 0.61.0\n');
  await box.flipstream(['init', 'gemini', '--yes']);
  heard('gemini', 1, 'imported');
  expect((await found('gemini'))?.message).toContain('nothing was heard of it yet');
  expect(checkLastEvent(home, () => NOW)).toMatchObject({
    ...{ state: 'warning', message: 'No event was recorded yet.' },
  });
  heard('gemini', 9);
  expect((await found('gemini'))?.message).toContain('last heard 9 min ago');
  expect(checkLastEvent(home, () => NOW).message).toContain('9 min ago');
});

test('another release than the tested one is a warning; one made to its documentation is said to be', async () => {
  program('gemini', '#!/bin/sh\necho 0.99.0\n');
  await box.flipstream(['init', 'gemini', '--yes']);
  expect(await found('gemini')).toMatchObject({
    state: 'warning',
    message: expect.stringMatching(/0\.99\.0 is connected.*Tested with 0\.61\.0/),
  });
  await box.flipstream(['init', 'cursor', '--yes']);
  expect((await found('cursor'))?.message).toContain('Made to its documentation, tested with no release.');
});

test('Claude Code: the same of release and last event', async () => {
  const claude = async (needed = true) =>
    (await checkClaude(box.env, layout(join(box.root, 'home')), () => NOW, needed))[0];
  program('claude', '#!/bin/sh\necho "2.1.332 (Claude Code)"\n');
  heard('claude-code', 3);
  const message = 'Claude Code 2.1.332; last heard 3 min ago. Tested with 2.1.332.';
  expect(await claude()).toEqual({ check: 'claude', state: 'ok', message });
  rmSync(join(box.root, 'bin', 'claude'));
  box.env.PATH = join(box.root, 'bin');
  expect(await claude()).toMatchObject({ state: 'warning', message: 'There is no claude on the PATH.' });
  expect(await claude(false)).toBeUndefined();
  program('claude', '#!/bin/sh\necho "2.9.0 (Claude Code)"\n');
  expect(await claude()).toMatchObject({ state: 'warning' });
});

/** `codex app-server`, as far as it is asked. */
const codex = (trust: readonly string[]) => `#!${process.execPath}
if (process.argv[2] !== 'app-server') console.log('codex-cli 0.171.0');
else require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  const command = ${JSON.stringify(join('HOME', 'hook', 'hook.cjs'))}.replace('HOME', process.env.FLIPSTREAM_HOME);
  const hooks = ${JSON.stringify(trust)}.map((trustStatus, n) => ({ eventName: 'event' + n, command, trustStatus }));
  if (id !== undefined) console.log(JSON.stringify({ id, result: method === 'hooks/list' ? { data: [{ hooks }] } : {} }));
});
`;

test.each([
  [['trusted', 'managed'], 'ok', 'trusts all 2 hooks'],
  [['trusted', 'untrusted'], 'problem', 'our hooks for event1'],
  [['trusted', 'modified'], 'problem', 'our hooks for event1'],
])('Codex is asked which hooks it trusts: %j', async (trust, state, said) => {
  program('codex', codex(trust));
  await box.flipstream(['init', 'codex', '--yes']);
  expect(await found('codex')).toMatchObject({ state: 'ok', message: expect.stringContaining('0.171.0') });
  expect(await found('codex-trust')).toMatchObject({ state, message: expect.stringContaining(said) });
});

test('a Codex that gives no answer is a warning', async () => {
  program('codex', '#!/bin/sh\necho codex-cli 0.171.0\n');
  await box.flipstream(['init', 'codex', '--yes']);
  expect(await found('codex-trust')).toMatchObject({ state: 'warning' });
});
