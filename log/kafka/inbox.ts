import type { TopicName } from '../../schemas/topics.ts';
import type { Feed, Portion } from './feed.ts';

/** What comes of several topics of one partition, one after another. */
export interface Inbox {
  /** Has the next of a topic fetched once `when` resolves; what was asked of that topic before is forgotten. */
  ask(topic: TopicName, from: number, when?: Promise<void>): void;
  /** The oldest that has come. @throws what the feed threw */
  next(): Promise<Arrived>;
  /** Asks for nothing any more. */
  close(): void;
}

interface Arrived {
  topic: TopicName;
  portion: Portion;
}

/** One request; a later one for its topic takes its place. */
interface Asked {
  topic: TopicName;
}

export function createInbox(feed: Feed, partition: number): Inbox {
  const asked = new Map<TopicName, Asked>();
  let arrived: { asked: Asked; get: () => Portion }[] = [];
  let wake = () => {};

  function fetch(one: Asked, from: number): void {
    if (asked.get(one.topic) !== one) return;
    const put = (get: () => Portion) => {
      if (asked.get(one.topic) !== one) return;
      arrived.push({ asked: one, get });
      wake();
    };
    feed.next(one.topic, partition, from).then(
      (portion) => put(() => portion),
      (error: unknown) =>
        put(() => {
          throw error;
        }),
    );
  }

  function forget(topic: TopicName): void {
    const before = asked.get(topic);
    if (!before) return;
    asked.delete(topic);
    arrived = arrived.filter((one) => one.asked !== before);
    feed.drop(topic, partition);
  }

  return {
    ask(topic, from, when) {
      forget(topic);
      const one = { topic };
      asked.set(topic, one);
      if (when) void when.then(() => fetch(one, from));
      else fetch(one, from);
    },
    async next() {
      if (arrived.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      const first = arrived.shift();
      if (!first) throw new TypeError('woken for nothing');
      return { topic: first.asked.topic, portion: first.get() };
    },
    close() {
      for (const topic of [...asked.keys()]) forget(topic);
    },
  };
}
