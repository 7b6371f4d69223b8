import { setTimeout as sleep } from 'node:timers/promises';
import type { FlipMetricDelta } from '../../schemas/generated.ts';
import { blankEvent } from '../../schemas/testing.ts';
import type { TopicName } from '../../schemas/topics.ts';
import { unframe } from '../framing.ts';
import type { Incoming, Log, Outgoing, Reducer } from '../log.ts';

/** What an engine brings to be tested: one log, opened as often as a test likes. */
export interface Rig {
  /** The same log once more, as another process would open it. */
  open(): Promise<Log>;
  /** Bytes that no producer of ours would write. */
  inject(topic: TopicName, key: string, value: Buffer): Promise<void>;
  /** What a newer release does when it opens the log: its schema of a topic's values is there. @returns the schema's id */
  register(topic: TopicName, schema: string): Promise<number>;
  /** Retention and compaction as they would be after so many days. */
  age(days: number): Promise<void>;
  /** Undoes what `open` and the engine's sealing do: content of dead letters as it was. */
  unseal(bytes: Buffer): Buffer;
  close(): Promise<void>;
}

/** Runs a test body against a fresh log and cleans up after it. */
export type Harness = (body: (rig: Rig) => Promise<void>) => Promise<void>;

/** An event whose key and number a test can recognise. */
export function event(key: string, seq: number, text: string | null = null): Outgoing<'trace.raw'> {
  const value = { ...blankEvent(), event_id: `${key}:${seq}`, session_id: key, seq, text_redacted: text };
  return { topic: 'trace.raw', key, value };
}

export const delta = (key: string, sessions: number): FlipMetricDelta => ({
  bucket: key,
  day: '2026-01-01',
  repo: null,
  harness: null,
  model: null,
  task_family: null,
  sessions,
  graded: 0,
  flipped: 0,
  no_flip: 0,
  attempts: 0,
  oracle_errors: 0,
  withheld: 0,
  gaps: 0,
  with_task: null,
});

/** Counts records by key; its output is the running count, so that one lost or done twice shows. */
export function counter(group: string): Reducer<{ n: number }> {
  return {
    group,
    inputs: ['trace.raw'],
    outputs: ['flip.metrics.deltas'],
    apply: (state, record) => {
      const n = (state?.n ?? 0) + 1;
      return {
        state: { n },
        out: [{ topic: 'flip.metrics.deltas', key: record.key, value: delta(record.key, n) }],
      };
    },
  };
}

/** Everything of a topic, read without a group. */
export async function everything<T extends TopicName>(log: Log, topic: T): Promise<Incoming<T>[]> {
  const all: Incoming<T>[] = [];
  for (let partition = 0; partition < (await log.partitions(topic)); partition++) {
    for (let from = 0; ; ) {
      const batch = await log.read(topic, partition, from, 5000);
      all.push(...batch.records);
      from = batch.nextOffset;
      if (from >= batch.end) break;
    }
  }
  return all;
}

/** The id of our schema for `topic`, where something lies in it. */
export async function ownId(log: Log, topic: TopicName): Promise<number> {
  const [one] = await everything(log, topic);
  const stored = one && (await log.bytesAt(topic, one.partition, one.offset));
  if (!stored) throw new Error(`there is nothing in ${topic}`);
  return unframe(stored.value).schemaId;
}

/** The outputs of `counter`, by key, in order. */
export async function counts(log: Log): Promise<Record<string, number[]>> {
  const byKey: Record<string, number[]> = {};
  for (const { key, value } of await everything(log, 'flip.metrics.deltas')) {
    byKey[key] ??= [];
    byKey[key].push(value.sessions);
  }
  return byKey;
}

export const upTo = (n: number) => Array.from({ length: n }, (_, index) => index + 1);

/** Waits for a condition; a test that never meets it fails by its own timeout. */
export async function until(met: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await met())) await sleep(5);
}

/** Until a group has read every partition of a topic that has records to its end. */
export async function caughtUp(log: Log, group: string, topic: TopicName): Promise<void> {
  await until(async () => {
    const ends = new Map<number, number>();
    for (let p = 0; p < (await log.partitions(topic)); p++) ends.set(p, (await log.read(topic, p, 0, 1)).end);
    const lag = (await log.lag()).filter((one) => one.group === group && one.topic === topic);
    const committed = new Map(lag.map((one) => [one.partition, one.committed]));
    return [...ends].every(([p, end]) => (committed.get(p) ?? 0) >= end);
  });
}
