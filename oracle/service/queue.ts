/** What a job takes of the machine while it runs. */
export interface Needs {
  cpus: number;
  memory_mb: number;
}

interface Room extends Needs {
  /** Jobs at a time. */
  concurrency: number;
}

const NOTHING: Needs = { cpus: 0, memory_mb: 0 };

/**
 * Runs what the machine has room for and lets at most `limit` wait; hosts take turns. A job for which there is no room
 * now is waited for, not passed by: else small ones would keep it out for ever. Alone, any job runs.
 */
export interface JobQueue {
  /** @returns false when there is no room for another job of this host; the job is then not taken. */
  add(host: string, job: () => Promise<void>, needs?: Needs): boolean;
  /** Takes a job whatever waits: one that was accepted before a restart. */
  resume(host: string, job: () => Promise<void>, needs?: Needs): void;
  /** Resolves when what runs has ended; what waits is given up. */
  stop(): Promise<void>;
}

interface Waiting {
  /** Never rejects. */
  job: () => Promise<void>;
  needs: Needs;
}

export function createQueue(room: Room, limit: number): JobQueue {
  /** Jobs that wait, by host; the host whose turn it is comes first. */
  const waiting = new Map<string, Waiting[]>();
  const running = new Map<Promise<void>, Needs>();
  let waits = 0;
  let stopped = false;

  function fits({ needs }: Waiting): boolean {
    if (running.size === 0) return true;
    const sum = (of: keyof Needs) => [...running.values()].reduce((all, other) => all + other[of], needs[of]);
    return running.size < room.concurrency && sum('cpus') <= room.cpus && sum('memory_mb') <= room.memory_mb;
  }

  /** The one whose turn it is, when there is room for it. */
  function take(): Waiting | null {
    const turn = waiting.entries().next().value;
    if (!turn) return null;
    const [host, jobs] = turn;
    const [first] = jobs;
    if (!first || !fits(first)) return null;
    jobs.shift();
    waiting.delete(host);
    if (jobs.length > 0) waiting.set(host, jobs); // behind the others
    waits--;
    return first;
  }

  function next(): void {
    while (!stopped) {
      const taken = take();
      if (!taken) return;
      const run = taken.job().finally(() => {
        running.delete(run);
        next();
      });
      running.set(run, taken.needs);
    }
  }

  function resume(host: string, job: () => Promise<void>, needs = NOTHING): void {
    const jobs = waiting.get(host) ?? [];
    jobs.push({ job, needs });
    waiting.set(host, jobs);
    waits++;
    next();
  }

  /** In a full queue a host still has its share of it, so that none can fill it for the others. */
  function hasRoom(host: string): boolean {
    if (waits < limit || (waits === 0 && running.size < room.concurrency)) return true;
    const hosts = new Set([...waiting.keys(), host]).size;
    return (waiting.get(host)?.length ?? 0) < Math.floor(limit / hosts);
  }

  return {
    resume,
    add(host, job, needs) {
      if (!hasRoom(host)) return false;
      resume(host, job, needs);
      return true;
    },
    async stop() {
      stopped = true;
      waiting.clear();
      await Promise.all(running.keys());
    },
  };
}
