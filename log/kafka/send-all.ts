import kafkajs, { type Producer, type RecordMetadata } from 'kafkajs';
import { chunks } from './chunks.ts';
import { unavailable } from './errors.ts';

const { CompressionTypes } = kafkajs;

const ALL_IN_SYNC = -1;
/** A leader that dies hands its partitions to one that has answered already, at most once for each broker. */
const TRIES = 10;

/** Records of one partition, in order. */
export interface Piece<R> {
  topic: string;
  partition: number;
  records: readonly R[];
}

/**
 * Sends pieces, each to one partition, until every one was answered for. kafkajs alone does not: when a broker
 * fails, and its partitions have gone to one that has answered before, its next try sends them to nobody and
 * succeeds.
 * @throws FlipstreamError `kafka_unavailable` (retryable), and what kafkajs does
 */
export async function sendAll<R extends { key: string; value: Buffer }>(
  producer: Pick<Producer, 'sendBatch'>,
  pieces: readonly Piece<R>[],
): Promise<void> {
  const batches = pieces.map(({ records, ...place }) => ({
    ...place,
    rounds: chunks(records, ({ value }) => value.length),
  }));
  for (let round = 0; batches.some(({ rounds }) => rounds.length > round); round++)
    await sendRound(
      producer,
      batches.flatMap(({ topic, partition, rounds }) => {
        const records = rounds[round];
        return records ? [{ topic, partition, records }] : [];
      }),
    );
}

async function sendRound<R extends { key: string; value: Buffer }>(
  producer: Pick<Producer, 'sendBatch'>,
  pieces: readonly Piece<R>[],
): Promise<void> {
  let waiting = pieces;
  for (let tries = 1; waiting.length > 0; tries++) {
    if (tries > TRIES) throw unavailable('no broker answers for a part of the records', []);
    const answers = await producer.sendBatch({
      topicMessages: waiting.map(({ topic, partition, records }) => ({
        topic,
        messages: records.map(({ key, value }) => ({ key, value, partition })),
      })),
      acks: ALL_IN_SYNC,
      compression: CompressionTypes.ZSTD,
    });
    waiting = waiting.filter((piece) => !answers.some((answer) => isAbout(answer, piece)));
  }
}

function isAbout({ topicName, partition }: RecordMetadata, piece: Piece<unknown>): boolean {
  return topicName === piece.topic && partition === piece.partition;
}
