import type { ProducerBatch, RecordMetadata } from 'kafkajs';
import { expect, test } from 'vitest';
import { sendAll, sendFitting } from './send-all.ts';

const records = (...keys: string[]) => keys.map((key) => ({ key, value: Buffer.from(key) }));

/** Takes what `takes` says of each call, and answers for that alone, as kafkajs does after a broker has died. */
function producer(takes: (call: number, partition: number) => boolean) {
  const taken: string[] = [];
  let calls = 0;
  return {
    taken,
    calls: () => calls,
    async sendBatch({ topicMessages = [] }: ProducerBatch): Promise<RecordMetadata[]> {
      const call = ++calls;
      return topicMessages.flatMap(({ topic, messages }) => {
        const partition = messages[0]?.partition ?? -1;
        if (!takes(call, partition)) return [];
        taken.push(...messages.map(({ key, partition: at }) => `${at}:${key}`));
        return [{ topicName: topic, partition, errorCode: 0 }];
      });
    },
  };
}

const pieces = [
  { topic: 't', partition: 0, records: records('a', 'b') },
  { topic: 't', partition: 1, records: records('c') },
];

test('P1 what was sent to nobody, and called done, is sent again; the rest is not', async () => {
  const half = producer((call, partition) => partition === 0 || call > 1);
  await sendAll(half, pieces);
  expect(half.taken).toEqual(['0:a', '0:b', '1:c']);
  expect(half.calls()).toBe(2);
});

test('what is never answered for is an outage', async () => {
  const deaf = producer((_, partition) => partition === 0);
  await expect(sendAll(deaf, pieces)).rejects.toMatchObject({ code: 'kafka_unavailable', kind: 'retryable' });
});

test('an answer is waited for from all replicas that are in sync, whichever request a record goes with', async () => {
  const asked: (number | undefined)[] = [];
  let calls = 0;
  const requests = {
    async sendBatch({ acks, topicMessages = [] }: ProducerBatch): Promise<RecordMetadata[]> {
      asked.push(acks);
      if (++calls === 2) throw sizeError();
      // The first request is answered for in part, and goes out again for the rest.
      const answered = calls === 1 ? topicMessages.slice(1) : topicMessages;
      return answered.map(({ topic, messages }) => ({
        topicName: topic,
        partition: messages[0]?.partition ?? -1,
        errorCode: 0,
      }));
    },
  };
  await sendFitting(requests, pieces);
  await sendAll(requests, pieces);
  expect(asked.length).toBeGreaterThan(4);
  expect(new Set(asked)).toEqual(new Set([ALL_IN_SYNC]));
});

const ALL_IN_SYNC = -1;
const sizeError = () =>
  Object.assign(new Error('too large'), { name: 'KafkaJSProtocolError', type: 'MESSAGE_TOO_LARGE' });

/** Refuses a batch as a broker does whose topic has a limit. */
function limited(most: number) {
  const taken: string[] = [];
  return {
    taken,
    async sendBatch({ topicMessages = [] }: ProducerBatch): Promise<RecordMetadata[]> {
      for (const { messages } of topicMessages)
        if (messages.reduce((sum, { value }) => sum + (value?.length ?? 0), 0) > most) throw sizeError();
      return topicMessages.map(({ topic, messages }) => {
        taken.push(...messages.map(({ key }) => String(key)));
        return { topicName: topic, partition: messages[0]?.partition ?? -1, errorCode: 0 };
      });
    },
  };
}

test('one record that a topic does not take is handed back; those beside it are sent, in order', async () => {
  const broker = limited(4);
  const piece = { topic: 't', partition: 0, records: records('a', 'b', 'large', 'c', 'd', 'e') };
  expect(await sendFitting(broker, [piece])).toEqual(records('large'));
  expect(broker.taken).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('a batch that is too large, of records that are not, is sent in smaller ones', async () => {
  const broker = limited(2);
  expect(
    await sendFitting(broker, [{ topic: 't', partition: 0, records: records('a', 'b', 'c', 'd', 'e') }]),
  ).toEqual([]);
  expect(broker.taken).toEqual(['a', 'b', 'c', 'd', 'e']);
  await expect(
    sendFitting({ sendBatch: async () => Promise.reject(new Error('else')) }, pieces),
  ).rejects.toThrow('else');
});
