/** The pipeline behind the collector in this process: embedded log, streams, sink, SQL; each can be stopped and started. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { type Sink, type SinkOptions, startSink } from '../../consumers/sink.ts';
import { type EmbeddedLog, type EmbeddedOptions, openEmbeddedLog } from '../../log/embedded/open.ts';
import { mask } from '../../log/embedded/testing.ts';
import type { Running } from '../../log/log.ts';
import { type Home, layout } from '../../producers/home.ts';
import type { TraceEvent } from '../../schemas/generated.ts';
import { headerHash } from '../../schemas/header.ts';
import type { KeyRing } from '../../schemas/signature.ts';
import type { TopicName } from '../../schemas/topics.ts';
import { createJoin } from '../../streams/join/join.ts';
import { createRedact } from '../../streams/redact/redact.ts';
import { openReader, type Reader } from '../../warehouse/query.ts';
import { inject } from './inject.ts';

export type Row = Record<string, unknown>;

export interface PipelineOptions {
  ring?: KeyRing;
  /** An existing folder of the caller's to be the home; default: a temporary one. */
  root?: string;
  log?: Partial<EmbeddedOptions>;
  /** Puts parts of the home somewhere else. */
  place?: (home: Home) => Home;
}

export interface Pipeline {
  home: Home;
  /** What the pipeline's own clock says; tests move it. */
  time: { now: number };
  log: EmbeddedLog;
  openLog(options?: Partial<EmbeddedOptions>): Promise<EmbeddedLog>;
  startStreams(): void;
  stopStreams(): Promise<void>;
  /** One more sink. */
  startSink(options?: Partial<SinkOptions>): Promise<Sink>;
  stopSinks(): Promise<void>;
  /** Puts bytes into a topic as if a producer of another make had written them. */
  inject(topic: TopicName, key: string, value: Buffer): Promise<void>;
  /** Resolves when redact, join and sink have worked in all that is in the log, and it has landed. */
  settled(): Promise<void>;
  sql(text: string): Promise<Row[]>;
  /** Asserts that the warehouse holds each event of the session once, in an unbroken chain, and returns them. */
  unbroken(sessionId: string): Promise<Row[]>;
  close(): Promise<void>;
}

const GROUPS = ['redact', 'join', 'sink'];

export async function createPipeline(options: PipelineOptions = {}): Promise<Pipeline> {
  const { ring = { v: 1, keys: [] }, place = (home) => home } = options;
  const root = options.root ?? mkdtempSync(join(tmpdir(), 'flipstream-pipeline-'));
  const home = place(layout(root));
  const time = { now: Date.now() };
  const clock = () => time.now;
  const opened: EmbeddedLog[] = [];
  let streams: Running[] = [];
  let sinks: Sink[] = [];
  let reader: Reader | null = null;

  async function openLog(more: Partial<EmbeddedOptions> = {}): Promise<EmbeddedLog> {
    const fixed = { dir: home.log, partitions: 2, maintainEveryMs: null, warn: () => {} };
    const log = await openEmbeddedLog({
      ...fixed,
      clock,
      seal: async (bytes) => mask(bytes),
      ...options.log,
      ...more,
    });
    opened.push(log);
    return log;
  }

  const log = await openLog();
  const pipeline: Pipeline = {
    home,
    time,
    log,
    openLog,
    startStreams() {
      streams = [log.run(createRedact()), log.run(createJoin({ keyRing: ring }))];
    },
    async stopStreams() {
      await Promise.all(streams.map((running) => running.stop()));
      streams = [];
    },
    async startSink(more = {}) {
      const sink = await startSink({
        log,
        warehouse: home.warehouse,
        clock,
        flushMs: 5,
        memoryMiB: 256,
        ...more,
      });
      sinks.push(sink);
      return sink;
    },
    async stopSinks() {
      await Promise.all(sinks.map((sink) => sink.stop()));
      sinks = [];
    },
    inject: (topic, key, value) => inject(home.log, topic, key, value, clock),
    async settled() {
      // Outputs and offsets are committed together: when nobody is behind, nothing is on its way either.
      const look = async () => {
        const lag = await log.lag();
        for (const group of GROUPS) expect(lag.map((one) => one.group)).toContain(group);
        expect(lag.filter(({ end, committed }) => committed < end)).toEqual([]);
      };
      const parts = [...streams, ...sinks];
      const ended = Promise.race(parts.map(({ done }) => done));
      await Promise.race([
        vi.waitFor(look, { timeout: 25_000, interval: 20 }),
        ended.then(() => Promise.reject(new Error('a part has ended'))),
      ]);
      await Promise.all(sinks.map((sink) => sink.flush()));
    },
    async sql(text) {
      reader ??= await openReader(home.warehouse);
      const { columns, rows } = await reader.query(text);
      return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column.name, row[at]])));
    },
    async unbroken(sessionId) {
      const rows = await pipeline.sql(`SELECT * FROM events WHERE session_id = '${sessionId}' ORDER BY seq`);
      let prev: string | null = null;
      for (const [at, row] of rows.entries()) {
        expect({ seq: row.seq, prev: row.prev }, `event ${at} of ${sessionId}`).toEqual({ seq: at, prev });
        prev = headerHash(row as Partial<TraceEvent>);
      }
      expect(new Set(rows.map((row) => row.event_id)).size).toBe(rows.length);
      return rows;
    },
    async close() {
      await pipeline.stopStreams();
      await pipeline.stopSinks();
      await Promise.all(opened.map((one) => one.close()));
      reader?.close();
      reader = null;
      if (options.root === undefined) rmSync(root, { recursive: true, force: true });
    },
  };
  return pipeline;
}
