/** Runs at most `concurrency` jobs at once and lets at most `limit` wait; hosts take turns. */
export interface JobQueue {
  /** @returns false when there is no room for another job of this host; the job is then not taken. */
  add(host: string, job: () => Promise<void>): boolean;
  /** Takes a job whatever waits: one that was accepted before a restart. */
  resume(host: string, job: () => Promise<void>): void;
  /** Resolves when what runs has ended; what waits is given up. */
  stop(): Promise<void>;
}

/** @param onError told what a job rejected with; the queue goes on. */
export function createQueue(concurrency: number, limit: number, onError: (error: unknown) => void): JobQueue {
  /** Jobs that wait, by host; the host whose turn it is comes first. */
  const waiting = new Map<string, (() => Promise<void>)[]>();
  const running = new Set<Promise<void>>();
  let waits = 0;
  let stopped = false;

  function take(): (() => Promise<void>) | null {
    const turn = waiting.entries().next().value;
    if (!turn) return null;
    const [host, jobs] = turn;
    const job = jobs.shift() ?? null;
    waiting.delete(host);
    if (jobs.length > 0) waiting.set(host, jobs); // behind the others
    waits--;
    return job;
  }

  function next(): void {
    while (!stopped && running.size < concurrency) {
      const job = take();
      if (!job) return;
      const run = job()
        .catch(onError)
        .finally(() => {
          running.delete(run);
          next();
        });
      running.add(run);
    }
  }

  function resume(host: string, job: () => Promise<void>): void {
    const jobs = waiting.get(host) ?? [];
    jobs.push(job);
    waiting.set(host, jobs);
    waits++;
    next();
  }

  /** In a full queue a host still has its share of it, so that none can fill it for the others. */
  function hasRoom(host: string): boolean {
    if (running.size < concurrency || waits < limit) return true;
    const hosts = new Set([...waiting.keys(), host]).size;
    return (waiting.get(host)?.length ?? 0) < Math.floor(limit / hosts);
  }

  return {
    resume,
    add(host, job) {
      if (!hasRoom(host)) return false;
      resume(host, job);
      return true;
    },
    async stop() {
      stopped = true;
      waiting.clear();
      await Promise.all(running);
    },
  };
}
