import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSpool } from '../collector/spool-files.ts';
import type { SpoolEntry } from '../draft.ts';
import { type Place, temporaryHome } from '../hook/testing.ts';
import { countLoss, LOSSES_BYTES, readLosses, resetLosses } from './losses.ts';
import { entryName } from './name.ts';
import { openKeysIn } from './pieces.ts';
import { prepareSpool, RESERVE_BYTES } from './prepare.ts';
import { putEntry, realDisk } from './put.ts';

let place: Place;
beforeEach(() => {
  place = temporaryHome();
});
afterEach(() => place.remove());

const entry = (session: string): SpoolEntry => ({
  v: 1,
  ts: '2026-01-02T03:04:05.678Z',
  session_id: session,
  agent_id: null,
  harness: 'claude-code',
  harness_event: 'Stop',
  registration: 'settings',
  transport: 'command',
  payload_hash: 'h',
  drafts: [],
});

const full = () => {
  throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
};

test('names order entries by time of capture, and within one microsecond by who came first', () => {
  const names = [entryName(2_000_000.5), entryName(2_000_000.5), entryName(2_000_001)];
  expect([...names].sort()).toEqual(names);
  expect(names[0]).toMatch(/^\d{16}-\d+-[0-9a-f]{8}\.json$/);
});

test('an entry is put whole, read by the collector in order, and leaves nothing in tmp', () => {
  const { home } = place;
  for (const [session, ms] of [
    ['b', 3_000_002],
    ['a', 3_000_001],
  ] as const)
    expect(putEntry(home, entry(session), ms)).toBe('kept');
  const spool = openSpool(home);
  const names = spool.list();
  expect(names.map((name) => spool.read(name))).toEqual([
    { entry: entry('b'), uid: process.getuid?.() ?? 0 },
    { entry: entry('a'), uid: process.getuid?.() ?? 0 },
  ]);
  expect(spool.read('0-1-a.json')).toBe('gone');
  expect([...names].sort()).toEqual(names);
  expect(readdirSync(join(home.spool, 'tmp'))).toEqual([]);
  expect(statSync(home.reserve).size).toBe(RESERVE_BYTES);
});

test('C1 disk full: the reserve is freed, and when it is used too the loss is counted', () => {
  const { home } = place;
  prepareSpool(home);
  const whileReserved = {
    ...realDisk,
    write: (path: string, text: string) => (existsSync(home.reserve) ? full() : realDisk.write(path, text)),
  };
  expect(putEntry(home, entry('s'), 1, whileReserved)).toBe('kept');
  expect(existsSync(home.reserve)).toBe(false);
  expect(putEntry(home, entry('s'), 2, { ...realDisk, write: full })).toBe('lost');
  expect(putEntry(home, entry('s'), 3, { ...realDisk, rename: full })).toBe('lost');
  expect(putEntry(home, entry('s'), 4, { ...realDisk, sync: full })).toBe('lost');
  expect(readLosses(home).count).toBe(3);
  expect(openSpool(home).list()).toHaveLength(1);
  expect(readdirSync(join(home.spool, 'tmp'))).toEqual([]);
});

test('losses told are told once, and those that come meanwhile stay', () => {
  const { home } = place;
  prepareSpool(home);
  for (let index = 0; index < 5; index++) expect(countLoss(home)).toBe(true);
  const { count } = readLosses(home);
  expect(count).toBe(5);
  countLoss(home);
  expect(resetLosses(home, count)).toBe(true);
  expect(readLosses(home).count).toBe(1);
  expect(statSync(home.losses).size).toBe(LOSSES_BYTES);
});

test('where nothing can be written a loss cannot be counted, and that is said', () => {
  const { home } = place;
  prepareSpool(home);
  rmSync(home.losses);
  expect(countLoss(home)).toBe(false);
  expect(readLosses(home).count).toBe(0);
});

test('C1 losses of 32 processes at once are all counted', async () => {
  const { home } = place;
  prepareSpool(home);
  const module = new URL('./losses.ts', import.meta.url).href;
  const code = `import(${JSON.stringify(module)}).then(({ countLoss }) => { for (let i = 0; i < 25; i++) countLoss(${JSON.stringify({ losses: home.losses })}); });`;
  const codes = await Promise.all(
    Array.from(
      { length: 32 },
      () =>
        new Promise((resolve) =>
          spawn(process.execPath, ['-e', code], { stdio: 'ignore' }).on('close', resolve),
        ),
    ),
  );
  expect(codes.every((one) => one === 0)).toBe(true);
  expect(readLosses(home).count).toBe(800);
  expect(readFileSync(home.losses).length).toBe(LOSSES_BYTES);
});

test('an open private key is remembered of its own message, and of no other', () => {
  const keys = openKeysIn(place.home, (id) => `hash-of-${id}`);
  expect(keys.isOpen('a')).toBe(false);
  keys.set('a', true);
  expect([keys.isOpen('a'), keys.isOpen('b')]).toEqual([true, false]);
  keys.set('a', false);
  expect(keys.isOpen('a')).toBe(false);
});

test('C8 a listing has every entry that came before its last one, however fast they come', async () => {
  prepareSpool(place.home);
  const [from, to] = [join(place.home.spool, 'tmp', 'x'), join(place.home.spool, 'new')];
  const writer = spawn(process.execPath, [
    '-e',
    `const { renameSync, writeFileSync } = require('node:fs');
     for (let n = 0; n < 12000; n++) {
       writeFileSync(${JSON.stringify(from)}, '{}');
       renameSync(${JSON.stringify(from)}, ${JSON.stringify(to)} + '/' + String(n).padStart(16, '0') + '.json');
     }`,
  ]);
  const ended = new Promise((resolve) => writer.on('exit', resolve));
  const spool = openSpool(place.home);
  while (writer.exitCode === null) {
    const names = spool.list();
    expect(Number.parseInt(names.at(-1) ?? '-1', 10), 'the number of the last').toBe(names.length - 1);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await ended).toBe(0);
});
