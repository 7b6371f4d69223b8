import type { EventEmitter } from 'node:events';
import { BUDGET_MS } from './budgets.ts';

/** What the guard needs of the process. */
export interface Guarded extends Pick<EventEmitter, 'on'> {
  exit: (code: number) => void;
}

export interface Guard {
  /** Sets how long the process may take, in milliseconds from its start. */
  within: (ms: number) => void;
  /** Ends the process. */
  end: () => void;
}

const ENDS = ['uncaughtException', 'unhandledRejection', 'SIGTERM', 'SIGINT', 'SIGHUP'];

/**
 * Whatever happens, the process ends in its time, with 0, and says nothing of it.
 * @param startedAt milliseconds since 1970
 * @param last what is still to be done before it ends, whyever it does
 */
export function guard(host: Guarded, startedAt: number, last: () => void): Guard {
  const end = () => {
    try {
      last();
    } finally {
      host.exit(0);
    }
  };
  const alarmAt = (ms: number) => setTimeout(end, Math.max(0, startedAt + ms - Date.now()));
  let alarm = alarmAt(BUDGET_MS);
  for (const event of ENDS) host.on(event, end);
  return {
    end,
    within(ms) {
      clearTimeout(alarm);
      alarm = alarmAt(ms);
    },
  };
}
