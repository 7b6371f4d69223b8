/** What a home's own log holds, onto a cluster: what nothing else is made from, and what redact knows to have seen. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Carrier } from '../../log/kafka/carry.ts';
import type { Incoming, Log, Outgoing } from '../../log/log.ts';
import { endsIt, pause, retryAfter } from '../../log/running.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { headerHash } from '../../schemas/header.ts';
import { TOPICS } from '../../schemas/topics.ts';
import { createRedact } from '../../streams/redact/redact.ts';
import { notice, type Seen } from '../../streams/redact/seen.ts';

/** `sessions`, `flips` and `flip.metrics` come out of the streams again. */
export const CARRIED = [
  'tasks',
  'oracle.verdicts',
  'trace.events',
  'trace.quarantine',
  'deadletter',
] as const;
type Carried = (typeof CARRIED)[number];

/** Whose states are carried too. */
export const CARRIED_GROUP = createRedact().group;

const BATCH = 1000;
const LOOK_MS = 20;

/** Lets redact take everything that was captured: then nothing of `trace.raw` has to be carried. */
async function drainRedact(log: Log, signal: AbortSignal): Promise<void> {
  const redact = createRedact();
  const running = log.run(redact);
  try {
    for (let behind = true; behind; ) {
      await Promise.race([running.done, sleep(LOOK_MS, undefined, { signal })]);
      const mine = (await log.lag()).filter(
        ({ group, topic }) => group === redact.group && topic === 'trace.raw',
      );
      behind = mine.length === 0 || mine.some(({ committed, end }) => committed < end);
    }
  } finally {
    await running.stop();
  }
}

export interface MoveOptions {
  from: Log;
  /** Connects to the cluster; anew after an outage. */
  open: () => Promise<Carrier>;
  progress: (topic: string, records: number) => void;
  signal: AbortSignal;
}

export type Counts = Record<Carried, number>;

/** An outage, or a cluster that is coming up, is waited out so often. */
const TRIES = 12;

/**
 * Carries everything that is not on the cluster yet.
 * @returns how many records of each topic were carried now.
 * @throws FlipstreamError `move_short` (fatal), the signal's reason, what the log throws, and what the carrier throws
 */
export async function moveLog({ from, open, progress, signal }: MoveOptions): Promise<Counts> {
  await drainRedact(from, signal);
  const states = await statesOf(from, signal);
  const counts = { tasks: 0, 'oracle.verdicts': 0, 'trace.events': 0, 'trace.quarantine': 0, deadletter: 0 };
  const tell = (topic: Carried, records: number) => {
    counts[topic] += records;
    progress(topic, counts[topic]);
  };
  for (let tries = 1; ; tries++) {
    try {
      await carryAll({ from, states, carrier: await open(), signal }, tell);
      return counts;
    } catch (error) {
      if (endsIt(error) || tries === TRIES || signal.aborted) throw error;
      await pause(retryAfter(tries), signal);
    }
  }
}

interface Carrying {
  from: Log;
  states: ReadonlyMap<string, string>;
  carrier: Carrier;
  signal: AbortSignal;
}

async function carryAll(
  { from, states, carrier, signal }: Carrying,
  carried: (topic: Carried, records: number) => void,
): Promise<void> {
  try {
    await carrier.carryStates(states);
    for (const topic of CARRIED)
      for (let partition = 0; partition < (await from.partitions(topic)); partition++) {
        const start = await carrier.next(topic, partition);
        for await (const { records, nextOffset } of batches(from, topic, partition, start)) {
          signal.throwIfAborted();
          await carrier.carry(topic, partition, records.map(placeless), nextOffset);
          carried(topic, records.length);
        }
      }
  } finally {
    await carrier.close();
  }
}

async function* batches<T extends Carried>(log: Log, topic: T, partition: number, from: number) {
  for (let at = from; ; ) {
    const batch = await log.read(topic, partition, at, BATCH);
    if (batch.earliest > at && TOPICS[topic].cleanup === 'delete')
      throw short(topic, partition, at, batch.earliest);
    if (batch.nextOffset <= at) return;
    yield batch;
    at = batch.nextOffset;
  }
}

/** Of each session, which events were seen: so that none that comes again, from an import say, is taken for new. */
async function statesOf(log: Log, signal: AbortSignal): Promise<Map<string, string>> {
  const seen = new Map<string, Seen>();
  for (let partition = 0; partition < (await log.partitions('trace.events')); partition++)
    for await (const { records } of batches(log, 'trace.events', partition, 0)) {
      signal.throwIfAborted();
      for (const { key, value } of records) {
        const session = seen.get(key) ?? { chains: {} };
        seen.set(key, session);
        notice(session, value.chain_id, value.seq, headerHash(value));
      }
    }
  return new Map([...seen].map(([key, session]) => [key, JSON.stringify(session)]));
}

/** The place that a dead letter names means nothing on the cluster, where another record may lie there. */
function placeless({ topic, key, value }: Incoming<Carried>): Outgoing<Carried> {
  if (!('source_topic' in value)) return { topic, key, value };
  return { topic, key, value: { ...value, source_partition: -1, source_offset: -1 } };
}

function short(topic: string, partition: number, from: number, earliest: number): FlipstreamError {
  return new FlipstreamError(
    'move_short',
    'fatal',
    `${topic}/${partition}: offsets ${from} to ${earliest - 1} are no longer in this home's log, but in its warehouse. Derive a fresh home from that with flipstream replay, and move the fresh one with --home`,
  );
}
