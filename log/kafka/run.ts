import type { TopicName } from '../../schemas/topics.ts';
import type { Reducer, Running } from '../log.ts';
import { createPreparer } from '../prepare.ts';
import { endsIt, start } from '../running.ts';
import { valueDecoder } from '../values.ts';
import { changelogOf } from './catalog.ts';
import type { Core } from './core.ts';
import { createFeed, type Feed } from './feed.ts';
import { createMember } from './group.ts';
import { persist } from './persist.ts';
import { type Run, reduce } from './reduce.ts';
import { createWatch } from './replaced.ts';
import { createStates, type States } from './states.ts';
import { createWire } from './wire.ts';

/** Runs a reducer over the partitions this process holds, side by side; each batch is one transaction. */
export function run<S, P>(core: Core, reducer: Reducer<S, P>): Running {
  return start(core.running, async (stopped) => {
    const changelog = changelogOf(reducer.group);
    const topics: string[] = [...reducer.inputs, changelog];
    const wire = createWire(core.access, topics);
    const failed = new AbortController();
    const fail = (error: unknown) => failed.abort(error);
    const stop = AbortSignal.any([stopped, failed.signal]);
    const watch = createWatch(core, fail);
    const feed = createFeed({ wire, onReturn: watch.check, warn: core.warn });
    const preparer = reducer.prepare ? createPreparer(reducer.prepare) : null;
    stop.addEventListener('abort', () => {
      feed.close();
      void preparer?.close();
    });
    const kept = new Map<number, States>();
    const tasks = new Map<number, Promise<void>>();
    try {
      const partitions = await persist(core, stop, async () => {
        await watch.remember(topics);
        await core.schemas.readyToWrite();
        return core.catalog.together([...topics, ...reducer.outputs, 'deadletter']);
      });
      const deal = () => {
        for (const partition of member.owned.keys()) {
          if (stop.aborted || tasks.has(partition)) continue;
          const task = reduce(shared, partition, stop)
            .catch(fail)
            .finally(() => {
              tasks.delete(partition);
              deal();
            });
          tasks.set(partition, task);
        }
        for (const partition of tasks.keys())
          if (!member.owned.has(partition)) letGo(feed, reducer.inputs, partition);
      };
      const member = createMember({
        wire,
        group: reducer.group,
        topics: reducer.inputs,
        partitions,
        sessionMs: core.sessionMs,
        // Nothing has to end before a partition goes elsewhere: whoever takes it ends what is open here.
        giveUp: async () => {},
        onDealt: deal,
        warn: core.warn,
      });
      const states = (partition: number) => {
        const found = kept.get(partition) ?? createStates(core.wire, changelog, partition);
        kept.set(partition, found);
        return found;
      };
      const decoders = new Map(
        reducer.inputs.map((topic) => [topic, valueDecoder(topic, core.schemas.ids)] as const),
      );
      const decoderOf = (topic: TopicName) => decoders.get(topic) ?? valueDecoder(topic, core.schemas.ids);
      const shared: Run<S, P> = { core, wire, feed, member, reducer, preparer, changelog, decoderOf, states };
      await member.run(stop, () => Promise.all(tasks.values()));
    } catch (error) {
      if (!stop.aborted || endsIt(error)) fail(error);
    } finally {
      feed.close();
      await preparer?.close();
      await Promise.all(tasks.values());
      for (const states of kept.values()) states.close();
      await wire.close();
    }
    failed.signal.throwIfAborted();
  });
}

function letGo(feed: Feed, inputs: readonly TopicName[], partition: number): void {
  for (const topic of inputs) feed.release(topic, partition);
}
