import type { DatabaseSync } from 'node:sqlite';
import { integer } from './rows.ts';

/** Pause between two looks at the file: short while something happens, longer when nothing does. */
const SHORTEST_MS = 1;
const LONGEST_MS = 10;
const GROWTH = 1.15;

/** Tells waiting consumers that something was committed, in this process or another. */
export interface Wake {
  /** Resolves at the next commit anyone makes after `seen`, or after `atMostMs`. */
  wait(seen: number, atMostMs: number): Promise<void>;
  /** Counts what happened so far: taken before reading, so that nothing falls between reading and waiting. */
  now(): number;
  /** A commit of this connection, which `data_version` does not show. */
  ring(): void;
  close(): void;
}

/** `PRAGMA data_version` costs a microsecond: it reads shared memory, not the file. */
export function createWake(db: DatabaseSync): Wake {
  const version = db.prepare('PRAGMA data_version');
  let known = integer(version.get(), 'data_version');
  let count = 0;
  let pause = SHORTEST_MS;
  let timer: NodeJS.Timeout | null = null;
  const waiting = new Set<() => void>();

  function look(): void {
    try {
      const current = integer(version.get(), 'data_version');
      if (current === known) return;
      known = current;
      pause = SHORTEST_MS;
    } catch {
      // Whoever waits reads next and meets the same trouble, with a name.
    }
    count++;
  }

  function ring(): void {
    count++;
    pause = SHORTEST_MS;
    release();
  }

  function release(): void {
    const due = [...waiting];
    waiting.clear();
    for (const resolve of due) resolve();
  }

  function poll(): void {
    timer = null;
    const before = count;
    look();
    if (count !== before) release();
    else pause = Math.min(pause * GROWTH, LONGEST_MS);
    if (waiting.size > 0) timer = setTimeout(poll, pause);
  }

  return {
    now() {
      look();
      return count;
    },
    wait(seen, atMostMs) {
      if (count !== seen) return Promise.resolve();
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(late);
          waiting.delete(done);
          resolve();
        };
        const late = setTimeout(done, atMostMs);
        waiting.add(done);
        timer ??= setTimeout(poll, pause);
      });
    },
    ring,
    close() {
      if (timer) clearTimeout(timer);
      timer = null;
      release();
    },
  };
}
