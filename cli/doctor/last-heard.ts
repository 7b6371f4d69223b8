import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Home } from '../../producers/home.ts';
import type { Clock } from '../../schemas/time.ts';

/** Live sessions looked into, the newest first. */
const SESSIONS = 500;
const BEGINNING = 64 * 1024;
const Told = z.looseObject({ harness: z.string() });

interface Heard {
  /** Of the session's first event. */
  harness: string;
  /** When the session's last event was recorded, milliseconds since the epoch. */
  ms: number;
}

/** Sessions that hooks told of, the last one first. What was imported was told by no hook, and lies beside them. */
export function* heardSessions(home: Home): Generator<Heard> {
  if (!existsSync(home.traces)) return;
  const files = readdirSync(home.traces)
    .map((name) => join(home.traces, name))
    .map((path) => ({ path, ms: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.ms - a.ms);
  for (const { path, ms } of files) {
    const harness = liveHarness(path);
    if (harness !== null) yield { harness, ms };
  }
}

/** When each harness was last heard of, milliseconds since the epoch, by the newest sessions. */
export function lastHeard(home: Home): ReadonlyMap<string, number> {
  const heard = new Map<string, number>();
  let seen = 0;
  for (const { harness, ms } of heardSessions(home)) {
    if (!heard.has(harness)) heard.set(harness, ms);
    if (++seen === SESSIONS) break;
  }
  return heard;
}

/** When a harness was last heard of, for people. */
export function ago(ms: number | undefined, clock: Clock): string {
  if (ms === undefined) return 'nothing was heard of it yet';
  const minutes = Math.round((clock() - ms) / 60_000);
  return `last heard ${minutes < 1 ? 'just now' : `${minutes} min ago`}`;
}

/** The harness that a trace's first event names; null for one that was imported, or is no trace. */
function liveHarness(path: string): string | null {
  try {
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(BEGINNING);
      const length = readSync(file, bytes, 0, BEGINNING, 0);
      const text = bytes.subarray(0, length).toString('utf8');
      const line = text.split('\n')[0] ?? '';
      if (line.includes('"capture":"imported"')) return null;
      // a first line longer than what was read still names it
      return /"harness":"([\w-]{1,64})"/.exec(line)?.[1] ?? Told.parse(JSON.parse(line)).harness;
    } finally {
      closeSync(file);
    }
  } catch {
    return null;
  }
}
