import pino from 'pino';
import type { Figures, FiguresOptions } from '../../consumers/figures.ts';
import { startMetrics } from '../../consumers/metrics-endpoint.ts';
import type { Log } from '../../log/log.ts';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import type { Config } from '../config.ts';
import { EXIT, type ExitCode, explain } from '../exit.ts';
import { openLog } from '../open-log.ts';
import { answerFigures } from './ask-figures.ts';
import { failureOf, tell } from './messages.ts';
import { type Role, type RunningRole, startRole } from './roles.ts';
import { startInPlace } from './take-over.ts';

export interface RunRole {
  config: Readonly<Config>;
  /** Serves the live numbers of this part alone; `up` has one port for all. */
  metricsPort?: number | undefined;
  bucketMs?: number | undefined;
  acceptGap?: boolean | undefined;
  signal: AbortSignal;
}

/** Runs one role until the process is told to stop, its parent dies, or the role fails. */
export async function runRole(
  role: Role,
  { config, metricsPort, bucketMs, acceptGap, signal: interrupted }: RunRole,
): Promise<ExitCode> {
  const signal = AbortSignal.any([interrupted, orphaned()]);
  if (signal.aborted) return EXIT.ok;
  const logger = pino(
    { name: role, level: config.debug ? 'debug' : 'info' },
    pino.destination({ dest: 2, sync: true }),
  );
  let log: Log | null = null;
  try {
    const opened = await openLog(config, {
      upkeep: true,
      warn: onceAWhile((message, error) =>
        logger.warn({ ...codeOf(error), reason: messageOf(error) }, message),
      ),
    });
    log = opened;
    const start = () =>
      startRole(role, {
        config,
        log: opened,
        clock: Date.now,
        logger,
        bucketMs,
        acceptGap,
      });
    // One that a hook or a person started alone makes way; only a part of `up` takes a place.
    const running = await (process.send
      ? startInPlace(start, { home: config.home, logger, signal })
      : start());
    try {
      await serve(running, { role, log: opened, metricsPort, logger, signal });
    } finally {
      // One that has failed still listens, and works on the log that is closed next.
      await running.stop();
    }
    return EXIT.ok;
  } catch (error) {
    const { code, message, exit } = explain(error);
    const failure = process.send ? failureOf(error) : null;
    if (failure) await tell(failure);
    else logger.error({ code }, message);
    return exit;
  } finally {
    await log?.close();
    if (process.connected) process.disconnect();
  }
}

interface Serving {
  role: Role;
  log: Log;
  metricsPort: number | undefined;
  logger: pino.Logger;
  signal: AbortSignal;
}

/** Says that the part is there, and tells of it until it is to stop. @throws what it fails with */
async function serve(
  running: RunningRole,
  { role, log, metricsPort, logger, signal }: Serving,
): Promise<void> {
  const figures = figuresOf({ part: role, log, ...running.landing });
  const metrics = metricsPort === undefined ? null : await startMetrics({ port: metricsPort, text: figures });
  try {
    if (metrics) logger.info({ url: metrics.url }, 'metrics');
    if (process.send) answerFigures(figures);
    await tell({ ready: role });
    if (process.send) logger.debug('ready');
    else logger.info('runs'); // alone nobody else says it
    const asked = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted) resolve();
    });
    await Promise.race([asked, running.done]);
  } finally {
    await metrics?.close();
  }
}

/** Loaded when they are first asked for: most never are. */
function figuresOf(options: FiguresOptions): () => Promise<string> {
  let figures: Promise<Figures> | undefined;
  return async () => {
    figures ??= import('../../consumers/figures.ts').then(({ createFigures }) => createFigures(options));
    return (await figures).text();
  };
}

/** What lasts is tried again every few seconds, and told of once in so long. */
const SAY_AGAIN_MS = 5 * 60_000;

function onceAWhile(warn: (message: string, error: unknown) => void) {
  const said = new Map<string, number>();
  return (message: string, error: unknown) => {
    const line = `${message} ${messageOf(error)}`;
    const now = performance.now();
    if (now - (said.get(line) ?? Number.NEGATIVE_INFINITY) < SAY_AGAIN_MS) return;
    if (said.size > 1000) said.clear();
    said.set(line, now);
    warn(message, error);
  };
}

function codeOf(error: unknown): { code?: string } {
  return error instanceof FlipstreamError ? { code: error.code } : {};
}

/** Aborted when the supervisor is gone, which may be before we have begun: then there is no event of it any more. */
function orphaned(): AbortSignal {
  const gone = new AbortController();
  process.once('disconnect', () => gone.abort());
  if (process.send && !process.connected) gone.abort();
  return gone.signal;
}
