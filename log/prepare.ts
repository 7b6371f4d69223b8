import { Worker } from 'node:worker_threads';
import { FlipstreamError } from '../schemas/errors.ts';
import type { Incoming, Reducer } from './log.ts';

/** Starting a thread and loading its rules is not part of a batch's deadline. */
const START_DEADLINE_MS = 60_000;

/** The build gives this name the extension of the package's modules. */
const HOST = new URL('./prepare-worker.ts', import.meta.url);

interface Reply<P> {
  id?: number;
  ready?: boolean;
  why?: string;
  ok?: P[];
  failed?: string;
}

type Outcome<P> = { ok: P[] } | { why: 'timeout' | 'failed' };

/** Runs a reducer's `prepare` in a worker thread. One batch at a time, so that a deadline counts one batch's work. */
export interface Preparer<P> {
  /** One result a record; the fallback for those that fail alone. @throws FlipstreamError `prepare_unusable` (fatal), `stopped` */
  prepare(records: Incoming[]): Promise<P[]>;
  /** Ends the thread at once, whatever it does. */
  close(): Promise<void>;
}

export function createPreparer<P>({
  module,
  deadlineMs,
  fallback,
}: NonNullable<Reducer<unknown, P>['prepare']>): Preparer<P> {
  let worker: Promise<Worker> | null = null;
  let queue: Promise<unknown> = Promise.resolve();
  let lastId = 0;
  let closed = false;

  async function drop(): Promise<void> {
    const dropped = worker;
    worker = null;
    await dropped?.then(
      (started) => started.terminate(),
      () => undefined,
    );
  }

  async function attempt(records: Incoming[]): Promise<Outcome<P>> {
    if (closed) throw stopped();
    worker ??= start(module);
    const running = await worker;
    if (closed) throw stopped();
    const outcome = await ask<P>(running, ++lastId, records, deadlineMs);
    // A thread ended by `close` says nothing about its records: no fallback for them.
    if (closed) throw stopped();
    if (!('ok' in outcome)) {
      // A thread that hung or died is of no more use, and one whose batch failed may hold half of it.
      await drop();
      return outcome;
    }
    return outcome.ok.length === records.length ? outcome : { why: 'failed' };
  }

  async function all(records: Incoming[]): Promise<P[]> {
    const together = await attempt(records);
    if ('ok' in together) return together.ok;
    if (records.length === 1) return [fallback(together.why)];
    const results: P[] = [];
    for (const record of records) {
      const alone = await attempt([record]);
      if ('ok' in alone) results.push(...alone.ok);
      else results.push(fallback(alone.why));
    }
    return results;
  }

  return {
    prepare: (records) => {
      if (records.length === 0) return Promise.resolve([]);
      const result = queue.then(() => all(records));
      queue = result.catch(() => undefined);
      return result;
    },
    close: () => {
      closed = true;
      return drop();
    },
  };
}

function stopped(): FlipstreamError {
  return new FlipstreamError(
    'stopped',
    'retryable',
    'stopped while records were prepared; nothing was committed',
  );
}

async function start(module: URL): Promise<Worker> {
  const worker = new Worker(HOST, { workerData: { module: module.href } });
  worker.unref();
  worker.on('error', () => undefined);
  const said = await answer<unknown>(worker, START_DEADLINE_MS, (reply) => reply.ready !== undefined);
  if (said !== 'timeout' && said !== 'failed' && said.ready) return worker;
  await worker.terminate();
  const why = typeof said === 'string' ? said : (said.why ?? 'it exports no function `prepare`');
  throw new FlipstreamError('prepare_unusable', 'fatal', `${module.href} cannot be run in a thread: ${why}`);
}

async function ask<P>(
  worker: Worker,
  id: number,
  records: Incoming[],
  deadlineMs: number,
): Promise<Outcome<P>> {
  const answered = answer<P>(worker, deadlineMs, (reply) => reply.id === id);
  worker.postMessage({ id, records });
  const reply = await answered;
  if (typeof reply === 'string') return { why: reply };
  return reply.ok ? { ok: reply.ok } : { why: 'failed' };
}

/** The first message that fits, or how the waiting ended. */
function answer<P>(
  worker: Worker,
  deadlineMs: number,
  fits: (reply: Reply<P>) => boolean,
): Promise<Reply<P> | 'timeout' | 'failed'> {
  return new Promise((resolve) => {
    const end = (result: Reply<P> | 'timeout' | 'failed') => {
      clearTimeout(timer);
      worker.off('message', hear);
      worker.off('exit', fail);
      resolve(result);
    };
    const hear = (reply: Reply<P>) => {
      if (fits(reply)) end(reply);
    };
    const fail = () => end('failed');
    const timer = setTimeout(() => end('timeout'), deadlineMs);
    worker.on('message', hear);
    worker.on('exit', fail);
  });
}
