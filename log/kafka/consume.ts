import type { FlipstreamError } from '../../schemas/errors.ts';
import type { TopicName } from '../../schemas/topics.ts';
import { countConsumed } from '../counting.ts';
import type { ConsumeOptions, Running } from '../log.ts';
import { endsIt, isFenced, pause, retryAfter, start } from '../running.ts';
import { type Decoded, decodeBatch, type RawBatch, type Reading } from '../values.ts';
import { begin } from './begin.ts';
import type { Core } from './core.ts';
import { named } from './errors.ts';
import { createFeed, type Feed, type Portion } from './feed.ts';
import { createMember, type Member } from './group.ts';
import { lettersFor, writtenAfter } from './letters.ts';
import { committedOf } from './offsets.ts';
import { persist } from './persist.ts';
import { batchesOf } from './portions.ts';
import { createWatch } from './replaced.ts';
import { createWire, type Wire } from './wire.ts';

const BATCH_RECORDS = 1000;
const BATCH_BYTES = 4 * 2 ** 20;

/** One consumer of a group. One batch at a time; while one is worked on, the next ones are fetched. */
export function consume<T extends TopicName, V>(
  core: Core,
  options: ConsumeOptions<T, V>,
  reading: Reading<T, V>,
): Running {
  return start(core.running, async (stopped) => {
    const wire = createWire(core.access, options.topics);
    const failed = new AbortController();
    const fail = (error: unknown) => failed.abort(error);
    const stop = AbortSignal.any([stopped, failed.signal]);
    const turns = createTurns();
    let atEnd = false;
    let working = 0;
    const idle = async () => {
      if (atEnd || working > 0 || !feed.quiet() || stop.aborted) return;
      atEnd = true;
      await turns(async () => options.onIdle?.()).catch(fail);
    };
    const busy = async <R>(job: () => Promise<R>): Promise<R> => {
      atEnd = false;
      working++;
      try {
        return await job();
      } finally {
        working--;
        void idle();
      }
    };
    const watch = createWatch(core, fail);
    const feed = createFeed({ wire, onQuiet: idle, onReturn: watch.check, warn: core.warn });
    stop.addEventListener('abort', () => feed.close());
    try {
      const partitions = await persist(core, stop, async () => {
        await watch.remember(options.topics);
        return core.catalog.together([...options.topics, 'deadletter']);
      });
      const shared = { core, wire, feed, turns, options, busy };
      const places = createPlaces(shared, reading, stop, fail);
      const member = createMember({
        wire,
        group: options.group,
        topics: options.topics,
        partitions,
        sessionMs: core.sessionMs,
        giveUp: places.giveUp,
        onDealt: () => places.follow(member),
        warn: core.warn,
      });
      await member.run(stop);
    } catch (error) {
      if (!stop.aborted || endsIt(error)) fail(error);
    } finally {
      feed.close();
      await wire.close();
    }
    failed.signal.throwIfAborted();
  });
}

/** Runs one job after another. */
type Turns = <R>(job: () => Promise<R>) => Promise<R>;

function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const mine = last.then(job);
    last = mine.catch(() => undefined);
    return mine;
  };
}

interface Shared<T extends TopicName, V> {
  core: Core;
  wire: Wire;
  feed: Feed;
  turns: Turns;
  options: ConsumeOptions<T, V>;
  /** While one is busy, nothing is at its end. */
  busy: Turns;
}

/** The partitions that a member follows, from one deal of the group to the next. */
function createPlaces<T extends TopicName, V>(
  shared: Shared<T, V>,
  reading: Reading<T, V>,
  stop: AbortSignal,
  fail: (error: unknown) => void,
) {
  const { core, feed, options } = shared;
  let round = new AbortController();
  let following: Promise<unknown>[] = [];
  return {
    follow(member: Member): void {
      round = new AbortController();
      const over = AbortSignal.any([round.signal, stop]);
      following = [...member.owned.keys()].flatMap((partition) =>
        options.topics.map((topic) => {
          const decode = reading(topic, core.schemas.ids);
          feed.expect(topic, partition);
          return followOne(shared, { topic, partition, decode, member }, over).catch(fail);
        }),
      );
    },
    async giveUp(): Promise<void> {
      round.abort();
      feed.releaseAll();
      await Promise.all(following);
    },
  };
}

interface Place<T extends TopicName, V> {
  topic: T;
  partition: number;
  decode: (bytes: Buffer) => V;
  member: Member;
}

/**
 * One partition of one topic, until it is given up. A batch that fails is tried again from where it began; a record
 * that cannot be read yet is waited for where it lies.
 */
async function followOne<T extends TopicName, V>(
  shared: Shared<T, V>,
  place: Place<T, V>,
  over: AbortSignal,
): Promise<void> {
  const { core, feed, options } = shared;
  const { topic, partition } = place;
  const ask = (position: number): Promise<Portion> => {
    const coming = feed.next(topic, partition, position);
    // Whoever gives up does not wait for it.
    coming.catch(() => undefined);
    return coming;
  };
  let failures = 0;
  let waited = 0;
  while (!over.aborted) {
    try {
      const from = await settle(shared, place);
      let { position } = from;
      let ahead = ask(position);
      while (!over.aborted) {
        const portion = await ahead;
        ahead = ask(portion.nextOffset);
        const next = { portion, position, letters: from.letters };
        const done = await shared.busy(() => work(shared, place, next, over));
        from.letters = done.letters;
        position = done.position;
        failures = 0;
        waited = done.waits ? waited + 1 : 0;
        if (!done.waits) continue;
        core.warn(`${options.group}: ${topic}/${partition} waits`, done.waits);
        feed.drop(topic, partition);
        await pause(retryAfter(waited), over);
        ahead = ask(position);
      }
    } catch (raw) {
      if (over.aborted && !endsIt(raw)) return;
      const error = named(raw, core.access.brokers);
      if (endsIt(error)) throw error;
      feed.drop(topic, partition);
      core.counters.transactionFailures++;
      if (isFenced(error)) core.counters.fenced++;
      else core.warn(`${options.group}: ${topic}/${partition} failed; trying again`, error);
      await pause(retryAfter(++failures), over);
    }
  }
}

/** Where to go on: asked at the start, after a failure, and when the partition was dealt anew. */
async function settle<T extends TopicName, V>({ wire, turns, options }: Shared<T, V>, place: Place<T, V>) {
  const { topic, partition, member } = place;
  const [committed] = await committedOf(wire, options.group, [{ topic, partition }]);
  const own = options.startAt ? await turns(async () => options.startAt?.(topic, partition)) : null;
  const position = own ?? Math.max(committed?.offset ?? 0, 0);
  const letters = committed?.letters ?? 0;
  await begin(member, committed ? [committed] : [], [{ topic, partition, offset: position, letters }]);
  return { position, letters };
}

/** @returns how far it came, up to where dead letters have been written, and why the next record waits, if so */
async function work<T extends TopicName, V>(
  shared: Shared<T, V>,
  { topic, partition, decode, member }: Place<T, V>,
  { portion, position, letters }: { portion: Portion; position: number; letters: number },
  over: AbortSignal,
): Promise<{ position: number; letters: number; waits: FlipstreamError | null }> {
  const { core, turns, options } = shared;
  const limit = { records: options.maxBatch ?? BATCH_RECORDS, bytes: BATCH_BYTES };
  let written = letters;
  let done = position;
  await core.schemas.readyToRead(topic, portion.records);
  try {
    for (const raw of batchesOf(topic, partition, portion, limit)) {
      if (over.aborted) break;
      const { batch, waits } = await turns(() => one(raw));
      done = batch.nextOffset;
      if (waits) return { position: done, letters: written, waits };
    }
  } finally {
    // What has been done is done, also when the rest is given up or fails.
    if (done > position) await member.commit([{ topic, partition, offset: done, letters: written }]);
  }
  return { position: done, letters: written, waits: null };

  async function one(raw: RawBatch): Promise<Decoded<T, V>> {
    const decoded = decodeBatch(topic, raw, decode);
    const { batch, refused } = decoded;
    if (refused.length > 0) {
      const encoded = await lettersFor(core, { topic, partition, group: options.group }, refused, written);
      await core.send(encoded);
      core.counters.deadLetters += encoded.length;
      written = writtenAfter(refused, written);
      // Durable before the batch counts as done anywhere: `startAt` may be a store of the consumer's own.
      await member.commit([{ topic, partition, offset: done, letters: written }]);
    }
    if (batch.records.length + refused.length > 0 || batch.earliest > done) await options.onBatch(batch);
    countConsumed(core.counters, topic, decoded.raw);
    return decoded;
  }
}
