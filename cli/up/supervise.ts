/** Runs the roles of `flipstream up` as processes of their own, starts again what dies, and stops them all. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Logger } from 'pino';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { askFigures } from './ask-figures.ts';
import { PartMessage } from './messages.ts';

export interface Part {
  name: string;
  /** Command line of the process, without the executable. */
  args: readonly string[];
  /** Where Node keeps what it has compiled, so that a part started again is there sooner. */
  compiled: string;
}

export interface Supervisor {
  /** Resolves once every part has said that it is ready; rejects with the error of one that cannot be. */
  ready: Promise<void>;
  /** Resolves with the error of a part that another start would not mend; it is not started again. */
  failed: Promise<FlipstreamError>;
  /** Process ids by part, of those that run now. */
  pids(): Record<string, number>;
  /** The live numbers of every part, in Prometheus' text format; null of one that does not run or does not answer. */
  figures(): Promise<Record<string, string | null>>;
  /** Asks every part to stop, waits, and ends what does not. */
  stop(): Promise<void>;
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 10_000;
/** Longer than any part needs to finish what it has begun. */
const GRACE_MS = 20_000;

/**
 * @param env environment of the parts
 * @param stderr where the parts' own logs go; default: ours
 */
export function supervise(
  parts: readonly Part[],
  env: NodeJS.ProcessEnv,
  logger: Logger,
  stderr: number | 'inherit' = 'inherit',
): Supervisor {
  const children = new Map<string, ChildProcess>();
  const timers = new Set<NodeJS.Timeout>();
  const waiting = new Set(parts.map((part) => part.name));
  const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
  ready.catch(() => {}); // whoever waits for it hears of it; nobody has to
  const { promise: failed, resolve: fail } = Promise.withResolvers<FlipstreamError>();
  let stopping = false;

  /** The channel closes when we die, however we die: then the part stops too. */
  const launch = ({ args, compiled }: Part) =>
    spawn(process.execPath, args, {
      env: { NODE_COMPILE_CACHE: compiled, ...env },
      stdio: ['ignore', stderr, stderr, 'ipc'],
    });

  function start(part: Part, pause = FIRST_PAUSE_MS): void {
    let settled = pause;
    let hopeless = false;
    const again = () => {
      if (stopping || hopeless) return;
      const timer = setTimeout(() => {
        timers.delete(timer);
        start(part, Math.min(settled * 2, LONGEST_PAUSE_MS));
      }, settled);
      timers.add(timer);
    };
    const notStarted = (error: unknown) => {
      children.delete(part.name);
      const reason = messageOf(error);
      logger.error({ part: part.name, reason, again_in_ms: settled }, 'a part cannot be started');
      again();
    };
    let child: ChildProcess;
    try {
      child = launch(part);
    } catch (error) {
      notStarted(error); // what the system refuses at once, Node throws: too little memory, say
      return;
    }
    children.set(part.name, child);
    child.on('message', (said) => {
      const message = PartMessage.parse(said);
      if ('failed' in message) {
        const { code, kind, message: why } = message.failed;
        const error = new FlipstreamError(code, kind, why);
        hopeless = true;
        reject(error);
        fail(error);
        return;
      }
      if (!('ready' in message)) return;
      settled = FIRST_PAUSE_MS;
      waiting.delete(part.name);
      if (waiting.size === 0) resolve();
    });
    child.on('error', (error) => {
      // One that has a process runs, and was not reached; of its end it tells itself.
      if (child.pid === undefined) notStarted(error);
    });
    child.once('exit', (code, signal) => {
      children.delete(part.name);
      if (!stopping && !hopeless)
        logger.warn(
          { part: part.name, code, signal, again_in_ms: settled },
          'a part has ended and is started again',
        );
      again();
    });
  }

  for (const part of parts) start(part);
  return {
    ready,
    failed,
    pids: () =>
      Object.fromEntries(
        [...children].flatMap(([name, child]) => (child.pid === undefined ? [] : [[name, child.pid]])),
      ),
    async figures() {
      const answers = parts.map(async ({ name }) => {
        const child = children.get(name);
        return [name, child ? await askFigures(child) : null] as const;
      });
      return Object.fromEntries(await Promise.all(answers));
    },
    async stop() {
      stopping = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.all([...children.values()].map(end));
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
  await gone;
  clearTimeout(timer);
}
