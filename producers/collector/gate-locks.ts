/** One gate a session: whoever comes meanwhile gets the first's answer (oracle-design). */
export interface GateLocks {
  /** null: it is yours. Otherwise what the gate before you was answered. */
  take(session: string, caller: object): Promise<Answer | null>;
  holds(session: string, caller: object): boolean;
  /** @param answer null: there is none, so that whoever waits decides anew */
  release(session: string, caller: object, answer: Answer | null): void;
  /** Everything that a caller holds is free again. */
  gone(caller: object): void;
  /** Gates at work, and gates that wait for one of those. */
  counts(): { working: number; waiting: number };
}

interface Answer {
  block: boolean;
}

interface Held {
  caller: object;
  done: Promise<Answer | null>;
  settle: (answer: Answer | null) => void;
}

export function createGateLocks(): GateLocks {
  const held = new Map<string, Held>();
  const left = new WeakSet<object>();
  let waiting = 0;

  function release(session: string, caller: object, answer: Answer | null): void {
    const lock = held.get(session);
    if (lock?.caller !== caller) return;
    held.delete(session);
    lock.settle(answer);
  }

  return {
    async take(session, caller) {
      for (;;) {
        const lock = held.get(session);
        if (lock && lock.caller !== caller) {
          waiting += 1;
          const answer = await lock.done;
          waiting -= 1;
          if (answer) return answer;
          continue;
        }
        if (!lock && !left.has(caller)) {
          const { promise, resolve } = Promise.withResolvers<Answer | null>();
          held.set(session, { caller, done: promise, settle: resolve });
        }
        return null;
      }
    },
    holds: (session, caller) => held.get(session)?.caller === caller,
    release,
    counts: () => ({ working: held.size, waiting }),
    gone(caller) {
      left.add(caller);
      for (const [session, lock] of [...held]) if (lock.caller === caller) release(session, caller, null);
    },
  };
}
