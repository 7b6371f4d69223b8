import { rmSync, watch } from 'node:fs';
import type { Server } from 'node:http';
import pino from 'pino';
import type { Log, Running } from '../../log/log.ts';
import { keyedHash } from '../../schemas/hash.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import type { Clock } from '../../schemas/time.ts';
import type { Home } from '../home.ts';
import { redactText } from '../redaction/text.ts';
import { DEFAULT_FIELD_LIMIT, DEFAULT_QUIET_MS, type Settings } from '../settings.ts';
import { requireShared } from '../shared-home.ts';
import { readLosses, resetLosses } from '../spool/losses.ts';
import { prepareSpool } from '../spool/prepare.ts';
import { chainIdentity } from './chain-identity.ts';
import type { CommitDeps } from './commit.ts';
import { openDb } from './db.ts';
import { createGateService } from './gate-service.ts';
import { type Grader, oracleAt } from './grader.ts';
import { pinnedHashKey } from './hash-key.ts';
import { startHttpThread } from './http-thread.ts';
import { createIngest } from './ingest.ts';
import { createOutbox } from './outbox.ts';
import { createPublisher } from './publish.ts';
import { createPump } from './pump.ts';
import { listenOnSocket } from './socket-server.ts';
import { openSpool } from './spool-files.ts';
import { createStore } from './store.ts';
import { openTraceFiles, type TraceFiles } from './trace-files.ts';
import { closeSilent, tellGaps, tellLosses } from './upkeep.ts';
import { startVerdictFeed } from './verdict-feed.ts';

export interface CollectorOptions {
  home: Home;
  log: Pick<Log, 'publish'>;
  clock: Clock;
  settings: Settings;
  /** Default: the oracle of the settings; without one every grade is ERROR. */
  grader?: Grader;
  /** Whether the agent runs as another user, in a home made for that (shared-home.ts). Default same_user. */
  capture?: 'same_user' | 'separate_user';
  warn?: (message: string, fields: Record<string, unknown>) => void;
  /** For tests and benchmarks. */
  tune?: {
    scanMs?: number;
    upkeepMs?: number;
    restMs?: number;
    retryMs?: number;
    maxRetryMs?: number;
    /** Entries of one transaction. */
    batch?: number;
    traces?: TraceFiles;
  };
}

export interface Collector extends Running {
  /** Of the HTTP transport, when the settings ask for it. */
  port?: number;
}

/** Entries of one transaction: few enough that a hook over HTTP never waits for long behind one. */
const BATCH = 64;

/**
 * The resident half of capture: drains the spool into chains, trace files and `trace.raw`, and answers the gate.
 * One a home, for as long as it runs.
 * @throws FlipstreamError `collector_running`, `socket_path_too_long`, `http_port_taken`, `home_not_shared` (usage), `home_damaged`,
 *   `collector_db_*`, `socket_unusable` (fatal)
 */
export async function startCollector(options: CollectorOptions): Promise<Collector> {
  const { home, clock, settings, tune = {}, capture = 'same_user' } = options;
  const warn = options.warn ?? stderrWarner();
  if (capture === 'separate_user') requireShared(home);
  makeFolder(home.root);
  const db = openDb(home.collectorDb);
  const servers: Server[] = [];
  const closing: (() => Promise<void> | void)[] = [() => db.close()];
  try {
    const startedMs = clock();
    const store = createStore(db);
    const outbox = createOutbox(db);
    const spool = openSpool(home);
    const hashKey = pinnedHashKey(db, home, warn);
    const limit = limitOf(settings);
    const commit: CommitDeps = {
      ...{ store, outbox, capture, clock, redact: redactText, limit },
      identity: chainIdentity(db, home),
      keyedHash: (text) => keyedHash(hashKey, text),
    };
    const losses = {
      read: () => readLosses(home),
      reset: (count: number) => void resetLosses(home, count),
    };
    const deafUntil = settings.http ? startedMs : null;
    const ingest = createIngest({ ...commit, spool, batch: tune.batch ?? BATCH, warn, deafUntil });
    const traces = tune.traces ?? openTraceFiles(home);
    const publisher = createPublisher({ store, outbox, spool, ingest, traces, log: options.log, warn });
    if (settings.http) tellGaps(commit, startedMs);
    prepareSpool(home);

    const pump = createPump({
      ...{ ingest, publisher, outbox, warn },
      upkeep: () => {
        tellLosses(commit, losses);
        closeSilent(commit, settings.quiet_ms ?? DEFAULT_QUIET_MS);
        prepareSpool(home);
      },
      upkeepMs: tune.upkeepMs ?? 1_000,
      restMs: tune.restMs ?? 25,
      scanMs: tune.scanMs ?? 500,
      retryMs: tune.retryMs ?? 50,
      maxRetryMs: tune.maxRetryMs ?? 5_000,
    });
    closing.push(() => pump.stop());
    const watcher = watchFor(spool.directory, (name) => ingest.done.has(name) || pump.wake(), warn);
    if (watcher) closing.push(() => watcher.close());

    const grader = options.grader ?? (settings.oracle ? oracleAt(settings.oracle, warn) : NO_ORACLE);
    const gate = createGateService({ ...commit, grader, drain: pump.ingestNow, wake: pump.wake });
    const http =
      settings.http && (await startHttpThread({ ...settings.http, home, hashKey, limit, capture }, warn));
    if (http) closing.push(() => http.close());
    if (settings.oracle && !options.grader) {
      const feed = startVerdictFeed({ home, oracle: settings.oracle, log: options.log, warn });
      closing.push(() => feed.stop());
    }
    const status = () => ({
      ...{ v: 1, pid: process.pid, capture, started_at: new Date(startedMs).toISOString() },
      ...{ entries: ingest.counters.entries, unreadable: ingest.counters.unreadable },
      ...{
        published: publisher.published,
        waiting: outbox.size(),
        open_sessions: store.openSessions().length,
      },
      http: http ? { port: http.port, refused: http.refused } : null,
      gates: gate.counts(),
      errors: pump.errors,
    });
    const mode = capture === 'same_user' ? 0o600 : 0o666;
    servers.push(
      await listenOnSocket({ path: home.collectorSocket, mode, gate, drained: pump.drained, status, warn }),
    );
    const stop = once(async () => {
      await Promise.all(servers.map(closeServer));
      rmSync(home.collectorSocket, { force: true });
      for (const close of closing.reverse()) await close();
    });
    return { done: pump.done, stop, ...(http ? { port: http.port } : {}) };
  } catch (error) {
    await Promise.all(servers.map(closeServer));
    for (const close of closing.reverse()) await close();
    throw error;
  }
}

const NO_ORACLE: Grader = async () => ({ answer: 'ERROR', reached: false });

function limitOf(settings: Settings): number {
  return settings.field_limit ?? DEFAULT_FIELD_LIMIT;
}

/** Some file systems tell nothing; then the scans find what came. */
function watchFor(directory: string, onName: (name: string) => void, warn: CollectorOptions['warn'] & {}) {
  try {
    const watcher = watch(directory, (_, name) => onName(name ?? ''));
    watcher.on('error', (error) =>
      warn('the spool cannot be watched; it is scanned', { why: error.message }),
    );
    return watcher;
  } catch (error) {
    warn('the spool cannot be watched; it is scanned', { why: String(error) });
    return null;
  }
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  return () => {
    running ??= work();
    return running;
  };
}

function stderrWarner(): CollectorOptions['warn'] & {} {
  const logger = pino({ name: 'collector' }, pino.destination({ fd: 2, sync: true }));
  return (message, fields) => logger.warn(fields, message);
}
