/** What tests of the sink and of what reads its tables share: a log, records, and one sink run to the end. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedLog, openEmbeddedLog } from '../../log/embedded/open.ts';
import type { Log, Outgoing } from '../../log/log.ts';
import { jsonReader } from '../../schemas/from-json.ts';
import type { FlipMetric, TraceEvent } from '../../schemas/generated.ts';
import { sha256 } from '../../schemas/hash.ts';
import { blankEvent } from '../../schemas/testing.ts';
import { readSnapshot } from '../../warehouse/delta/snapshot.ts';
import { TABLE_NAMES, TABLES, tableDir } from '../../warehouse/tables.ts';
import { type SinkOptions, startSink } from '../sink.ts';
import { appId } from './hold.ts';

export interface Place {
  dir: string;
  warehouse: string;
  logDir: string;
  remove(): void;
}

export function newPlace(): Place {
  const dir = mkdtempSync(join(tmpdir(), 'flipstream-sink-'));
  return {
    dir,
    warehouse: join(dir, 'warehouse'),
    logDir: join(dir, 'log'),
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
}

export function openLog(place: Place, clock?: () => number): Promise<EmbeddedLog> {
  return openEmbeddedLog({ dir: place.logDir, partitions: 2, maintainEveryMs: null, clock });
}

/** A message event; its identity comes from session and number. */
export function event(
  session: string,
  seq: number,
  more: Partial<TraceEvent> = {},
): Outgoing<'trace.events'> {
  const value: TraceEvent = {
    ...blankEvent(),
    event_id: sha256(`${session}/${seq}`),
    session_id: session,
    chain_id: 'chain',
    seq,
    ts: new Date(1_780_000_000_000 + seq * 1000).toISOString(),
    type: 'message',
    role: 'assistant',
    harness: 'test',
    text_redacted: `message ${seq} of ${session}`,
    ...more,
  };
  return { topic: 'trace.events', key: session, value };
}

const readVerdict = jsonReader('Verdict');
const readSession = jsonReader('Session');

/** A verdict as the oracle publishes it, under the key of `session`; `mode: 'baseline'` has no session of its own. */
export function verdict(
  id: string,
  session: string,
  mode: 'grade' | 'baseline' = 'grade',
): Outgoing<'oracle.verdicts'> {
  const value = readVerdict({
    v: 1,
    verdict_id: id,
    session_id: mode === 'grade' ? session : null,
    attempt: mode === 'grade' ? 1 : 0,
    task_id: 'task-1',
    mode,
    verdict: mode === 'grade' ? 'PASS' : 'FAIL',
    base_commit: 'b'.repeat(40),
    tests_hash: sha256('tests'),
    runner: 'process',
    placement: 'same_host',
    evidence: 'in_process',
    oracle_host: 'oracle',
    oracle_version: '1',
    released_at: '2026-01-01T00:00:00.000Z',
    key_id: 'key',
    oracle_seq: 1,
    signature: 'c2ln',
  });
  return { topic: 'oracle.verdicts', key: session, value };
}

export function session(id: string, more: Record<string, unknown> = {}): Outgoing<'sessions'> {
  return { topic: 'sessions', key: id, value: readSession({ session_id: id, ...more }) };
}

/** The counts of a bucket, all zero but those given; its name is made of its day and repository. */
export function metric(
  day: string,
  repo: string,
  counts: Partial<FlipMetric> = {},
): Outgoing<'flip.metrics'> {
  const dimensions = {
    bucket: `["${day}","${repo}"]`,
    day,
    repo,
    harness: null,
    model: null,
    task_family: null,
  };
  const none = { sessions: 0, graded: 0, flipped: 0, no_flip: 0, attempts: 0, oracle_errors: 0, withheld: 0 };
  const value: FlipMetric = { ...dimensions, ...none, gaps: 0, with_task: 0, ...counts };
  return { topic: 'flip.metrics', key: value.bucket, value };
}

/** Runs a sink until everything that is in the log now has landed. */
export async function landAll(
  log: Log,
  place: Place,
  options: Partial<Pick<SinkOptions, 'clock' | 'group' | 'acceptGap' | 'maxRows'>> = {},
) {
  const { clock = Date.now, ...rest } = options;
  const sink = await startSink({ log, warehouse: place.warehouse, clock, flushMs: 5, ...rest });
  await Promise.race([sink.done, caughtUp(log, place, options.group ?? 'sink')]);
  await sink.flush();
  const stats = sink.stats();
  await sink.stop();
  await sink.done;
  return stats;
}

/** Resolves when everything in the log was read by the group or had landed before. */
export async function caughtUp(log: Log, place: Place, group: string): Promise<void> {
  while (!(await isCaughtUp(log, place, group))) await new Promise((resolve) => setTimeout(resolve, 2));
}

async function isCaughtUp(log: Log, place: Place, group: string): Promise<boolean> {
  const lag = await log.lag();
  for (const table of TABLE_NAMES) {
    const { topic } = TABLES[table];
    const { txns } = await readSnapshot(tableDir(place.warehouse, table));
    for (let partition = 0; partition < (await log.partitions(topic)); partition++) {
      const { end } = await log.read(topic, partition, 0, 1);
      const read = lag.find(
        (part) => part.group === group && part.topic === topic && part.partition === partition,
      );
      const landed = txns.get(appId(await log.idOf(topic), topic, partition)) ?? 0;
      if (Math.max(read?.committed ?? 0, landed) < end) return false;
    }
  }
  return true;
}
