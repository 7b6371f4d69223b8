/** Kill tests of the embedded log: publishers and reducers killed and stopped at random moments. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { caughtUp, counts, everything } from '../conformance/rig.ts';
import type { EmbeddedLog } from './open.ts';

/** Short, so that a stop outlives it. */
export const CHAOS_LEASE_MS = 400;
const STOP_MS = CHAOS_LEASE_MS * 2;
const CHILD = new URL('./chaos-child.ts', import.meta.url).pathname;
const PUBLISHERS = ['alpha', 'beta', 'gamma'];

export interface ChaosResult {
  /** Numbers published, by key, as the log holds them. */
  published: Record<string, number[]>;
  /** The running counts that the reducers put out, by key. */
  counted: Record<string, number[]>;
  /** Acknowledged numbers that a later start did not find. */
  lost: string[];
}

interface Part {
  child: ChildProcess;
  ready: Promise<unknown>;
}

/** @param dir the log's directory; `log` an opening of it for reading the results. */
export async function chaos(
  log: EmbeddedLog,
  dir: string,
  { kills, stops }: { kills: number; stops: number },
): Promise<ChaosResult> {
  const lost: string[] = [];
  const ack = new Map<string, number>();

  function startOne(args: string[]): Part {
    const [, , key = ''] = args;
    const child = spawn(process.execPath, [CHILD, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    const part: Part = { child, ready: once(child.stdout, 'data') };
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [what, number] = line.split(' ');
      if (what === 'acked') ack.set(key, Number(number));
      if (what === 'found' && Number(number) < (ack.get(key) ?? 0)) lost.push(`${key} ${ack.get(key)}`);
    });
    return part;
  }

  const argsOf = [...PUBLISHERS.map((key) => ['publisher', dir, key]), ['reducer', dir], ['reducer', dir]];
  const parts = argsOf.map(startOne);
  await Promise.all(parts.map((part) => part.ready));

  async function kill(index: number): Promise<void> {
    const { child } = parts[index] ?? {};
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'close');
    child.kill('SIGKILL');
    await gone;
  }

  async function stop(index: number): Promise<void> {
    parts[index]?.child.kill('SIGSTOP');
    await sleep(STOP_MS);
    parts[index]?.child.kill('SIGCONT');
  }

  try {
    const acts = kills + stops;
    for (let n = 0; n < acts; n++) {
      await sleep(Math.random() * 150);
      const index = Math.floor(Math.random() * parts.length);
      if (Math.floor(((n + 1) * stops) / acts) > Math.floor((n * stops) / acts)) {
        // Only a reducer: it has an heir.
        await stop(PUBLISHERS.length + (index % 2));
      } else {
        await kill(index);
        parts[index] = startOne(argsOf[index] ?? []);
        await parts[index]?.ready;
      }
    }
    for (const index of PUBLISHERS.keys()) await kill(index);
    await caughtUp(log, 'count', 'trace.raw');
  } finally {
    await Promise.all(parts.map((_, index) => kill(index)));
  }

  const published: Record<string, number[]> = {};
  for (const { key, value } of await everything(log, 'trace.raw')) {
    published[key] ??= [];
    published[key].push(value.seq);
  }
  return { published, counted: await counts(log), lost };
}
