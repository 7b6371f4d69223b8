/** Runs at most `concurrency` jobs at once and lets at most `limit` wait. */
export interface JobQueue {
  /** @returns false when the queue is full; the job is then not taken. */
  add(job: () => Promise<void>): boolean;
  /** Takes a job whatever waits: one that was accepted before a restart. */
  resume(job: () => Promise<void>): void;
  /** Resolves when what runs has ended; what waits is given up. */
  stop(): Promise<void>;
}

/** @param onError told what a job rejected with; the queue goes on. */
export function createQueue(concurrency: number, limit: number, onError: (error: unknown) => void): JobQueue {
  const waiting: (() => Promise<void>)[] = [];
  const running = new Set<Promise<void>>();
  let stopped = false;

  function next(): void {
    while (!stopped && running.size < concurrency) {
      const job = waiting.shift();
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

  function resume(job: () => Promise<void>): void {
    waiting.push(job);
    next();
  }

  return {
    resume,
    add(job) {
      if (running.size >= concurrency && waiting.length >= limit) return false;
      resume(job);
      return true;
    },
    async stop() {
      stopped = true;
      waiting.length = 0;
      await Promise.all(running);
    },
  };
}
