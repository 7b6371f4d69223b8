import kafkajs, { type Producer, type RecordMetadata } from 'kafkajs';
import { chunks } from './chunks.ts';
import { isSizeRefused, unavailable } from './errors.ts';

const { CompressionTypes } = kafkajs;

const ALL_IN_SYNC = -1;
/** A leader that dies hands its partitions to one that has answered already, at most once for each broker. */
const TRIES = 10;

type Sender = Pick<Producer, 'sendBatch'>;
type Sendable = { key: string; value: Buffer };

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
export async function sendAll<R extends Sendable>(
  producer: Sender,
  pieces: readonly Piece<R>[],
): Promise<void> {
  for (const round of roundsOf(pieces)) await sendRound(producer, round);
}

/**
 * The same, but for records that are larger than their topic is set to take: those beside them are sent.
 * @returns those that are too large
 */
export async function sendFitting<R extends Sendable>(
  producer: Sender,
  pieces: readonly Piece<R>[],
): Promise<R[]> {
  const refused: R[] = [];
  for (const round of roundsOf(pieces)) {
    try {
      await sendRound(producer, round);
    } catch (error) {
      if (!isSizeRefused(error)) throw error;
      for (const piece of round) refused.push(...(await sieve(producer, piece)));
    }
  }
  return refused;
}

/** What goes out together: of each piece one batch. */
function roundsOf<R extends Sendable>(pieces: readonly Piece<R>[]): Piece<R>[][] {
  const rounds: Piece<R>[][] = [];
  for (const { records, ...place } of pieces)
    chunks(records, ({ value }) => value.length).forEach((batch, at) => {
      rounds[at] ??= [];
      rounds[at].push({ ...place, records: batch });
    });
  return rounds;
}

/** A batch is taken whole or not at all; it may be too large where each of its records is not. */
async function sieve<R extends Sendable>(producer: Sender, { records, ...place }: Piece<R>): Promise<R[]> {
  try {
    await sendRound(producer, [{ ...place, records }]);
    return [];
  } catch (error) {
    if (!isSizeRefused(error)) throw error;
    if (records.length === 1) return [...records];
  }
  const middle = Math.ceil(records.length / 2);
  return [
    ...(await sieve(producer, { ...place, records: records.slice(0, middle) })),
    ...(await sieve(producer, { ...place, records: records.slice(middle) })),
  ];
}

async function sendRound<R extends Sendable>(producer: Sender, pieces: readonly Piece<R>[]): Promise<void> {
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
