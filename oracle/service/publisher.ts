import type { Logger } from 'pino';
import type { Log } from '../../log/log.ts';
import { messageOf } from '../../schemas/errors.ts';
import type { Oracle } from '../oracle.ts';
import { drainOutbox } from '../outbox.ts';

export interface Publisher {
  /** Something waits in the outbox. */
  kick(): void;
  /** Publishes what waits once more, as far as the log takes it. */
  stop(): Promise<void>;
}

/** How often the outbox is looked at unasked: other processes put baselines and tasks into it, and the log may have been down. */
const LOOK_MS = 1000;

export function startPublisher(oracle: Oracle, log: Pick<Log, 'publish'>, logger: Logger): Publisher {
  let running: Promise<void> | null = null;
  let again = false;

  async function drain(): Promise<void> {
    do {
      again = false;
      try {
        await drainOutbox(oracle.db, log);
      } catch (error) {
        logger.warn({ error: messageOf(error) }, 'the log took no verdicts; they wait and are tried again');
        return;
      }
    } while (again);
  }

  function kick(): void {
    again = true;
    running ??= drain().finally(() => {
      running = null;
    });
  }

  const timer = setInterval(kick, LOOK_MS);
  kick();
  return {
    kick,
    async stop() {
      clearInterval(timer);
      await running;
      await drain();
    },
  };
}
