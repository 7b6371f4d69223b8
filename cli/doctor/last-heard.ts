import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Home } from '../../producers/home.ts';
import type { Clock } from '../../schemas/time.ts';

/** Trace files looked into, the newest first. */
const FILES = 500;
const BEGINNING = 64 * 1024;
const Told = z.looseObject({ harness: z.string() });

/** When each harness was last heard of, milliseconds since the epoch, by the newest trace files. */
export function lastHeard(home: Home): ReadonlyMap<string, number> {
  const heard = new Map<string, number>();
  if (!existsSync(home.traces)) return heard;
  const files = readdirSync(home.traces)
    .map((name) => join(home.traces, name))
    .map((path) => ({ path, ms: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, FILES);
  for (const { path, ms } of files) {
    const harness = harnessIn(path);
    if (harness !== null && !heard.has(harness)) heard.set(harness, ms);
  }
  return heard;
}

/** When a harness was last heard of, for people. */
export function ago(ms: number | undefined, clock: Clock): string {
  if (ms === undefined) return 'nothing was heard of it yet';
  const minutes = Math.round((clock() - ms) / 60_000);
  return `last heard ${minutes < 1 ? 'just now' : `${minutes} min ago`}`;
}

/** The harness that a trace's first event names. */
function harnessIn(path: string): string | null {
  try {
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(BEGINNING);
      const length = readSync(file, bytes, 0, BEGINNING, 0);
      const text = bytes.subarray(0, length).toString('utf8');
      const line = text.split('\n')[0] ?? '';
      // a first line longer than what was read still names it
      return /"harness":"([\w-]{1,64})"/.exec(line)?.[1] ?? Told.parse(JSON.parse(line)).harness;
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}
