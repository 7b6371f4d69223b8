import type { FlipstreamError } from '../../schemas/errors.ts';
import type { RecordOf } from '../../schemas/records.ts';
import type { TopicName } from '../../schemas/topics.ts';
import { countConsumed, countPublished } from '../counting.ts';
import { checkSize } from '../encode.ts';
import type { Reducer } from '../log.ts';
import { partitionOf } from '../partition.ts';
import type { Preparer } from '../prepare.ts';
import { recordsLost } from '../records-lost.ts';
import { createReduction, type Reduction } from '../reduction.ts';
import { endsIt, isFenced, isStopped, pause, retryAfter } from '../running.ts';
import { decodeBatch, type Encoded, encodeNow, encodeValue, needsSeal, type RawBatch } from '../values.ts';
import { type Core, RECORD_BYTES } from './core.ts';
import { named } from './errors.ts';
import type { Feed } from './feed.ts';
import type { Member } from './group.ts';
import { createInbox, type Inbox } from './inbox.ts';
import { type Lease, openLease, type Placed } from './lease.ts';
import { lettersFor, writtenAfter } from './letters.ts';
import { batchesOf } from './portions.ts';
import { changelogged, marksOf, type Standing, type Standings, standingsOf } from './standing.ts';
import type { States } from './states.ts';
import type { Wire } from './wire.ts';

/** What the partitions of one running reducer share. */
export interface Run<S, P> {
  core: Core;
  wire: Wire;
  feed: Feed;
  member: Member;
  reducer: Reducer<S, P>;
  preparer: Preparer<P> | null;
  changelog: string;
  /** Resolvers from writers' schemas are made once. */
  decoderOf(topic: TopicName): (bytes: Buffer) => RecordOf<TopicName>;
  /** Kept for as long as the reducer runs here, also while a partition is elsewhere: then only the rest is read. */
  states(partition: number): States;
}

/** Scanners in `prepare` are fastest at about a mebibyte. */
const LIMIT = { records: 1000, bytes: 2 ** 20 };

/** One partition of all inputs, until it is stopped or dealt to another. Nothing is kept over an error. */
export async function reduce<S, P>(run: Run<S, P>, partition: number, stopped: AbortSignal): Promise<void> {
  const { core, feed, member, reducer } = run;
  const { ids } = core.schemas;
  const states = run.states(partition);
  const reduction = createReduction(reducer, run.preparer, {
    check: (out) => (needsSeal(out) && core.seal ? null : checkSize(encodeNow(out, ids), RECORD_BYTES)),
    seal: (out) => encodeValue(out, ids, core.seal),
  });
  const over = () => stopped.aborted || !member.owned.has(partition);
  let failures = 0;
  while (!over()) {
    let task: Task | null = null;
    try {
      task = await open(run, partition, states);
      while (!over()) {
        await step(run, task, reduction, stopped);
        failures = 0;
      }
    } catch (raw) {
      const error = named(raw, core.access.brokers);
      if (endsIt(error)) throw error;
      if (over() || isStopped(error)) continue;
      core.counters.transactionFailures++;
      if (isFenced(error)) core.counters.fenced++;
      else core.warn(`${reducer.group}: partition ${partition} failed; trying again`, error);
      await pause(retryAfter(++failures), stopped);
    } finally {
      reduction.reset();
      task?.inbox.close();
      for (const topic of reducer.inputs) feed.drop(topic, partition);
      await task?.lease.close();
    }
  }
}

interface Task {
  partition: number;
  lease: Lease;
  states: States;
  inbox: Inbox;
  /** How often the next record of a topic could not be read yet; the other inputs go on meanwhile. */
  waits: Map<TopicName, number>;
  at: Map<TopicName, Standing>;
}

/**
 * The order is what makes it exact: a sign of life, so that a process that slept takes nothing away from its
 * heir; then the lease, which ends whatever was open; and only then what was committed is read.
 */
async function open<S, P>(run: Run<S, P>, partition: number, states: States): Promise<Task> {
  const { core, feed, member, reducer } = run;
  await member.check();
  const lease = await openLease(core.access, `${reducer.group}-${partition}`);
  try {
    const standings = await standingsOf(run, partition, states);
    await begin(run, lease, partition, states, standings);
    const inbox = createInbox(feed, partition);
    for (const { topic, offset } of standings.all) inbox.ask(topic, offset);
    const at = new Map(standings.all.map((one) => [one.topic, one]));
    return { partition, lease, states, inbox, waits: new Map(), at };
  } catch (error) {
    await lease.close();
    throw error;
  }
}

/**
 * Writes down where the group begins, before any record: from then on its lag can be seen, whatever stops its first
 * one, and whatever is gone then was lost.
 */
async function begin<S, P>(
  { reducer, changelog }: Run<S, P>,
  lease: Lease,
  partition: number,
  states: States,
  { fresh, unmarked }: Standings,
): Promise<void> {
  if (fresh.length === 0 && unmarked.length === 0) return;
  const marks = new Map(unmarked.flatMap(marksOf));
  const records = changelogged(changelog, partition, marks);
  const offsets = { group: reducer.group, committed: fresh };
  await lease.commit({ records, ...(fresh.length > 0 ? { offsets } : {}) });
  states.store(marks);
}

/** Whatever has come for one input, a transaction a batch. */
async function step<S, P>(
  run: Run<S, P>,
  task: Task,
  reduction: Reduction,
  stopped: AbortSignal,
): Promise<void> {
  const { core, reducer } = run;
  const { topic, portion } = await task.inbox.next();
  const from = task.at.get(topic)?.offset ?? 0;
  if (portion.earliest > from)
    throw recordsLost(reducer.group, topic, task.partition, from, portion.earliest);
  task.inbox.ask(topic, portion.nextOffset);
  await core.schemas.readyToRead(topic, portion.records);
  for (const batch of batchesOf(topic, task.partition, portion, LIMIT)) {
    const { waits, nextOffset } = await transact(run, task, reduction, batch);
    if (!waits) continue;
    core.warn(`${reducer.group}: partition ${task.partition} of ${topic} waits`, waits);
    const times = (task.waits.get(topic) ?? 0) + 1;
    task.waits.set(topic, times);
    task.inbox.ask(topic, nextOffset, pause(retryAfter(times), stopped));
    return;
  }
  task.waits.delete(topic);
}

async function transact<S, P>(
  run: Run<S, P>,
  { partition, lease, states, at }: Task,
  reduction: Reduction,
  raw: RawBatch,
): Promise<{ nextOffset: number; waits: FlipstreamError | null }> {
  const { core, reducer, changelog } = run;
  const { topic } = raw;
  const standing = at.get(topic);
  if (!standing) throw new TypeError(`${topic} is no input of ${reducer.group}`);
  const { offset: from, letters } = standing;
  const decoded = decodeBatch(topic, raw, run.decoderOf(topic));
  const { waits } = decoded;
  const { nextOffset } = decoded.batch;
  if (nextOffset <= from) return { nextOffset, waits };
  const effects = await reduction.process(decoded, states.load);
  const place = { topic, partition, group: reducer.group };
  const written = await lettersFor(core, place, effects.refused, letters);
  const next = { ...standing, offset: nextOffset, letters: writtenAfter(effects.refused, letters) };
  const records = await placed(run, [...effects.outputs, ...written]);
  const changed = new Map([...effects.states, ...marksOf(next)]);
  records.push(...changelogged(changelog, partition, changed));
  await lease.commit({ records, offsets: { group: reducer.group, committed: [next] } });
  at.set(topic, next);
  states.store(changed);
  reduction.committed();
  countConsumed(core.counters, topic, decoded.raw);
  countPublished(core.counters, effects.outputs);
  core.counters.deadLetters += written.length;
  return { nextOffset, waits };
}

async function placed<S, P>({ core }: Run<S, P>, records: readonly Encoded[]): Promise<Placed[]> {
  const all: Placed[] = [];
  for (const { topic, key, value } of records) {
    const { partitions } = await core.catalog.topic(topic);
    all.push({ topic, partition: partitionOf(key, partitions), key, value });
  }
  return all;
}
