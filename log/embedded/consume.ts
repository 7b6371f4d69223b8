import type { TopicName } from '../../schemas/topics.ts';
import { countConsumed } from '../counting.ts';
import type { ConsumeOptions, Running } from '../log.ts';
import { endsIt, isFenced, retryAfter, start } from '../running.ts';
import { decodeBatch, type Reading } from '../values.ts';
import type { Core } from './core.ts';
import { createMember, type Member } from './member.ts';
import { createOffsets, createPost, groupId, writeLetters } from './offsets.ts';
import { named } from './sqlite-errors.ts';

const BATCH_RECORDS = 1000;
const BATCH_BYTES = 4 * 2 ** 20;
/** Longest sleep without a commit to wake it. */
const WAIT_MS = 1000;
/** The same while a retry will fall due, or nothing is held yet. */
const SHORT_WAIT_MS = 20;

/** Where a consumer stands in one partition of one topic, for as long as it holds it. */
interface Place {
  epoch: number;
  position: number | null;
  failures: number;
  retryAt: number;
}

/** One consumer of a group. Partitions are served in turn; one that fails is retried while the others go on. */
export function consume<T extends TopicName, V>(
  core: Core,
  options: ConsumeOptions<T, V>,
  reading: Reading<T, V>,
): Running {
  return start(core.running, async (stopped) => {
    const group = await groupId(core, options.group, options.topics);
    const member = createMember(core, options.group, group);
    const serve = await createServer(core, options, reading, group, member);
    const wakeUp = () => core.wake.ring();
    stopped.addEventListener('abort', wakeUp);
    try {
      await member.join(wakeUp);
      let atEnd = false;
      while (!stopped.aborted) {
        const seen = core.wake.now();
        const outcome = await serve(stopped);
        if (outcome === 'progress') atEnd = false;
        else {
          if (outcome === 'end' && !atEnd) await options.onIdle?.();
          atEnd = outcome === 'end';
          await core.wake.wait(seen, outcome === 'end' ? WAIT_MS : SHORT_WAIT_MS);
        }
      }
    } finally {
      stopped.removeEventListener('abort', wakeUp);
      await member.leave();
    }
  });
}

/** One round over everything the member holds. */
async function createServer<T extends TopicName, V>(
  core: Core,
  options: ConsumeOptions<T, V>,
  reading: Reading<T, V>,
  group: number,
  member: Member,
) {
  const offsets = createOffsets(core, group);
  const post = createPost(core, group);
  const limit = { records: options.maxBatch ?? BATCH_RECORDS, bytes: BATCH_BYTES };
  const topics = options.topics.map((topic) => ({
    topic,
    decode: reading(topic, core.catalog.schemas),
  }));
  const places = new Map<string, Place>();

  /** Where to go on. What the consumer's own store has beyond the group's offset counts as read, also if nothing follows. */
  async function settle(topic: T, partition: number, epoch: number): Promise<number> {
    const committed = offsets.get(topic, partition);
    const own = (await options.startAt?.(topic, partition)) ?? committed;
    if (own > committed)
      await core.transact(() => {
        member.check(partition, epoch);
        offsets.set(topic, partition, own);
      });
    return own;
  }

  async function step({ topic, decode }: (typeof topics)[number], partition: number, place: Place) {
    const { epoch } = place;
    place.position ??= await settle(topic, partition, epoch);
    const position = place.position;
    const read = core.read(topic, partition, position, limit);
    if (read.nextOffset <= position) return false;
    const { batch, raw, refused, waits } = decodeBatch(topic, read, decode);
    const letters = await writeLetters(core, { topic, partition, group: options.group }, refused);
    if (letters.length > 0) {
      // Durable before the batch counts as done anywhere: `startAt` may be a store of the consumer's own.
      core.counters.deadLetters += await core.transact(() => post(topic, partition, letters));
    }
    if (batch.records.length + refused.length > 0 || batch.earliest > position) await options.onBatch(batch);
    await core.transact(() => {
      member.check(partition, epoch);
      offsets.set(topic, partition, batch.nextOffset);
    });
    countConsumed(core.counters, topic, raw);
    place.position = batch.nextOffset;
    if (waits) throw waits;
    place.failures = 0;
    return true;
  }

  function placeOf(topic: T, partition: number, epoch: number): Place {
    const name = `${topic}/${partition}`;
    let place = places.get(name);
    if (place?.epoch !== epoch) {
      place = { epoch, position: null, failures: 0, retryAt: 0 };
      places.set(name, place);
    }
    return place;
  }

  return async (stopped: AbortSignal): Promise<'progress' | 'end' | 'waiting'> => {
    let progress = false;
    let waiting = member.owned.size === 0;
    for (const [partition, epoch] of [...member.owned]) {
      if (member.surplus()) {
        await member.release(partition, epoch);
        continue;
      }
      for (const one of topics) {
        if (stopped.aborted) return 'waiting';
        const place = placeOf(one.topic, partition, epoch);
        if (place.retryAt > performance.now()) {
          waiting = true;
          continue;
        }
        try {
          progress = (await step(one, partition, place)) || progress;
        } catch (raw) {
          const error = named(raw, core.path);
          if (endsIt(error)) throw error;
          waiting = true;
          core.counters.transactionFailures++;
          // The consumer's own store may have moved meanwhile: ask it again.
          place.position = null;
          place.failures++;
          place.retryAt = performance.now() + retryAfter(place.failures);
          if (isFenced(error)) core.counters.fenced++;
          else core.warn(`${options.group}: ${one.topic}/${partition} failed; trying again`, error);
        }
      }
    }
    if (progress) return 'progress';
    return waiting ? 'waiting' : 'end';
  };
}
