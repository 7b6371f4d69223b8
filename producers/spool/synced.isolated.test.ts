/** That an entry is durable once it is put: what was synced, in what state it was then, seen from below our own code. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import type { SpoolEntry } from '../draft.ts';
import { layout } from '../home.ts';
import { prepareSpool } from './prepare.ts';
import { putEntry } from './put.ts';

/** What was synced, and the names in it or the text that it had at that time. */
const synced = vi.hoisted((): { path: string; held: string }[] => []);
vi.mock('node:fs', async (importActual) => {
  const fs = await importActual<typeof import('node:fs')>();
  const paths = new Map<number, string>();
  const heldBy = (path: string) =>
    fs.statSync(path).isDirectory() ? fs.readdirSync(path).join() : fs.readFileSync(path, 'utf8');
  return {
    ...fs,
    openSync: (path: string, ...how: [flags: string, mode?: number]) => {
      const fd = fs.openSync(path, ...how);
      paths.set(fd, path);
      return fd;
    },
    fsyncSync: (fd: number) => {
      fs.fsyncSync(fd);
      const path = paths.get(fd) ?? '';
      synced.push({ path, held: heldBy(path) });
    },
  };
});

const root = mkdtempSync(join(tmpdir(), 'flipstream-synced-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

test('C1 an entry that is put was synced whole under its last name, and then its folder', () => {
  const home = layout(root);
  prepareSpool(home);
  synced.length = 0;
  const entry: SpoolEntry = {
    ...{ v: 1, ts: '2026-01-02T03:04:05.678Z', session_id: 's', agent_id: null, harness: 'claude-code' },
    ...{
      harness_event: 'Stop',
      registration: 'settings',
      transport: 'command',
      payload_hash: 'h',
      drafts: [],
    },
  };
  expect(putEntry(home, entry, 1)).toBe('kept');
  const folder = join(home.spool, 'new');
  const [name = ''] = readdirSync(folder);
  const file = join(folder, name);
  expect(synced).toEqual([
    { path: file, held: JSON.stringify(entry) },
    ...(process.platform === 'win32' ? [] : [{ path: folder, held: name }]),
  ]);
  expect(readFileSync(file, 'utf8')).toBe(JSON.stringify(entry));
});
