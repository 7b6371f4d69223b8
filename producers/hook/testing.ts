/** Help for tests of the hook: the real file as a process, and its main function in this one. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { SpoolEntry } from '../draft.ts';
import { type Home, layout } from '../home.ts';
import type { Disk } from '../spool/put.ts';
import { type HookIo, startHook } from './run.ts';
import { readInput } from './stdin.ts';

const HOOK = fileURLToPath(new URL('../../plugin/dist/hook.cjs', import.meta.url));

export interface Place {
  root: string;
  home: Home;
  remove: () => void;
}

export function temporaryHome(): Place {
  const root = mkdtempSync(join(tmpdir(), 'flipstream-hook-'));
  return {
    root,
    home: layout(join(root, 'home')),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** What the spool holds, in order, read as the collector reads it. */
export function spooled(home: Home): SpoolEntry[] {
  let names: string[];
  try {
    names = readdirSync(join(home.spool, 'new')).sort();
  } catch {
    return [];
  }
  return names.map((name) =>
    SpoolEntry.parse(JSON.parse(readFileSync(join(home.spool, 'new', name), 'utf8'))),
  );
}

export interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  registration?: string;
  env?: Record<string, string>;
  /** Leaves standard input open. */
  hang?: boolean;
  script?: string;
  /** The Node that runs it; default: ours. */
  node?: string;
}

/** The bundled hook as the harness runs it. */
export function hookProcess(home: Home, input: string | Buffer, options: RunOptions = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      options.node ?? process.execPath,
      [options.script ?? HOOK, '--registration', options.registration ?? 'settings'],
      {
        env: { PATH: process.env.PATH, HOME: home.root, FLIPSTREAM_HOME: home.root, ...options.env },
      },
    );
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdin.on('error', () => {}); // it may end before it has read all
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    if (options.hang) child.stdin.write(input);
    else child.stdin.end(input);
  });
}

/** A disk that keeps entries in memory: no sync, no file. */
export function memoryDisk(): Disk & { written: string[] } {
  const written: string[] = [];
  return {
    written,
    write: (_path, text) => void written.push(text),
    rename: () => {},
    sync: () => {},
    syncDirectory: () => {},
  };
}

/** What the hook is given when a test runs it in its own process; `input` comes whole. */
export function hookIo(home: Home, input: string | Buffer): HookIo {
  return {
    environment: {
      ...{ home, off: false, path: process.env.PATH, folders: null, agent: undefined, run: null, all: {} },
    },
    argv: ['--registration', 'settings'],
    cwd: () => null,
    read: (options) => readInput(Readable.from([Buffer.from(input)]), options),
    print: () => {},
    now: Date.now,
    startedAt: Date.now(),
  };
}

/** The hook's main function in this process. @returns what it printed */
export async function hookInProcess(
  home: Home,
  input: string | Buffer,
  over: Partial<HookIo> = {},
): Promise<string> {
  let printed = '';
  const print = (text: string) => {
    printed += text;
  };
  await startHook({ ...hookIo(home, input), print, ...over }).done;
  return printed;
}
