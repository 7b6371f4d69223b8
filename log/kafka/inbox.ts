import type { TopicName } from '../../schemas/topics.ts';
import type { Feed, Portion } from './feed.ts';

/** What comes of several topics of one partition, one after another. */
export interface Inbox {
  /** Has the next of a topic fetched. */
  ask(topic: TopicName, from: number): void;
  /** The oldest that has come. @throws what the feed threw */
  next(): Promise<Arrived>;
}

interface Arrived {
  topic: TopicName;
  portion: Portion;
}

export function createInbox(feed: Feed, partition: number): Inbox {
  const arrived: (Arrived | { error: unknown })[] = [];
  let wake = () => {};
  const put = (one: Arrived | { error: unknown }) => {
    arrived.push(one);
    wake();
  };
  return {
    ask(topic, from) {
      feed.next(topic, partition, from).then(
        (portion) => put({ topic, portion }),
        (error: unknown) => put({ error }),
      );
    },
    async next() {
      if (arrived.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      const first = arrived.shift();
      if (!first) throw new TypeError('woken for nothing');
      if ('error' in first) throw first.error;
      return first;
    },
  };
}
