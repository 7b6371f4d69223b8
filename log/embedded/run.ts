import type { FlipstreamError } from '../../schemas/errors.ts';
import type { TopicName } from '../../schemas/topics.ts';
import { countConsumed, countPublished } from '../counting.ts';
import { checkSize } from '../encode.ts';
import type { Reducer, Running } from '../log.ts';
import { createPreparer, type Preparer } from '../prepare.ts';
import { recordsLost } from '../records-lost.ts';
import { createReduction, type Reduction } from '../reduction.ts';
import { endsIt, isFenced, isStopped, pause, retryAfter, start } from '../running.ts';
import { decodeBatch, encodeNow, encodeValue, needsSeal, valueDecoder } from '../values.ts';
import type { Core } from './core.ts';
import { createMember, type Member } from './member.ts';
import { createOffsets, createPost, groupId, writeLetters } from './offsets.ts';
import { RECORD_BYTES } from './publish.ts';
import { named } from './sqlite-errors.ts';
import { createStates } from './states.ts';

/** Scanners in `prepare` are fastest at about a mebibyte. */
const LIMIT = { records: 1000, bytes: 2 ** 20 };
const WAIT_MS = 1000;

/** Runs a reducer over the partitions this process holds, side by side; each batch is one transaction. */
export function run<S, P>(core: Core, reducer: Reducer<S, P>): Running {
  return start(core.running, async (stopped) => {
    const group = await groupId(core, reducer.group, reducer.inputs);
    const member = createMember(core, reducer.group, group);
    const preparer = reducer.prepare ? createPreparer(reducer.prepare) : null;
    const workers = new Map<string, Promise<void>>();
    const failed = new AbortController();
    const stop = AbortSignal.any([stopped, failed.signal]);

    const deal = () => {
      core.wake.ring();
      for (const [partition, epoch] of member.owned) {
        const name = `${partition}/${epoch}`;
        if (stop.aborted || workers.has(name)) continue;
        const task = { partition, epoch, group, member };
        const work = reduce(core, reducer, preparer, task, stop)
          .catch((error: unknown) => failed.abort(error))
          .finally(() => workers.delete(name));
        workers.set(name, work);
      }
    };
    const wakeUp = () => {
      core.wake.ring();
      void preparer?.close();
    };
    stop.addEventListener('abort', wakeUp);
    try {
      await member.join(deal);
      if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve));
      await Promise.all(workers.values());
    } finally {
      await preparer?.close();
      await member.leave();
    }
    failed.signal.throwIfAborted();
  });
}

interface Task {
  partition: number;
  epoch: number;
  group: number;
  member: Member;
}

/** One partition until it is stopped, given up or taken away. */
async function reduce<S, P>(
  core: Core,
  reducer: Reducer<S, P>,
  preparer: Preparer<P> | null,
  task: Task,
  stopped: AbortSignal,
): Promise<void> {
  const { partition, epoch, member } = task;
  const ids = core.catalog.schemas;
  const reduction = createReduction(reducer, preparer, {
    check: (out) => (needsSeal(out) && core.seal ? null : checkSize(encodeNow(out, ids), RECORD_BYTES)),
    seal: (out) => encodeValue(out, ids, core.seal),
  });
  const step = createStep(core, reducer, reduction, task);
  let failures = 0;
  while (!stopped.aborted && member.owned.get(partition) === epoch) {
    if (member.surplus()) return member.release(partition, epoch);
    const seen = core.wake.now();
    let busy = false;
    let waits: FlipstreamError | null = null;
    try {
      for (const topic of reducer.inputs) {
        const done = await step(topic);
        busy ||= done.progress;
        waits ??= done.waits;
      }
      // One input that waits keeps the others from nothing.
      if (waits && !busy) throw waits;
      failures = 0;
    } catch (raw) {
      if (stopped.aborted && isStopped(raw)) return;
      const error = named(raw, core.path);
      reduction.reset();
      core.counters.transactionFailures++;
      if (isFenced(error)) {
        core.counters.fenced++;
        return;
      }
      if (endsIt(error)) throw error;
      core.warn(`${reducer.group}: partition ${partition} failed; trying again`, error);
      await pause(retryAfter(++failures), stopped);
      continue;
    }
    if (!busy) await core.wake.wait(seen, WAIT_MS);
  }
}

function createStep<S, P>(core: Core, reducer: Reducer<S, P>, reduction: Reduction, task: Task) {
  const { partition, epoch, group, member } = task;
  const offsets = createOffsets(core, group);
  const states = createStates(core, group, partition);
  const post = createPost(core, group);
  const decoders = new Map(
    reducer.inputs.map((topic) => [topic, valueDecoder(topic, core.catalog.schemas)] as const),
  );

  return async (topic: TopicName): Promise<{ progress: boolean; waits: FlipstreamError | null }> => {
    const decode = decoders.get(topic);
    const from = offsets.get(topic, partition);
    const read = core.read(topic, partition, from, LIMIT);
    if (!decode || read.nextOffset <= from) return { progress: false, waits: null };
    if (read.earliest > from) throw recordsLost(reducer.group, topic, partition, from, read.earliest);
    const decoded = decodeBatch(topic, read, decode);
    const { nextOffset } = decoded.batch;
    if (nextOffset <= from) return { progress: false, waits: decoded.waits };
    const effects = await reduction.process(decoded, states.load);
    const place = { topic, partition, group: reducer.group };
    const letters = await writeLetters(core, place, effects.refused);
    await core.transact(() => {
      member.check(partition, epoch);
      core.append(effects.outputs);
      states.store(effects.states);
      core.counters.deadLetters += post(topic, partition, letters);
      offsets.set(topic, partition, nextOffset);
    });
    reduction.committed();
    core.wake.ring();
    countConsumed(core.counters, topic, decoded.raw);
    countPublished(core.counters, effects.outputs);
    return { progress: true, waits: decoded.waits };
  };
}
