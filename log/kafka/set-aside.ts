/**
 * Records that their topic does not take for their size. What was to be published goes on without them: a dead
 * letter with the record's hash goes in its place.
 */
import { FlipstreamError } from '../../schemas/errors.ts';
import { deadLetter, encodeLetter } from '../deadletter.ts';
import { isTooLarge } from '../encode.ts';
import type { Outgoing } from '../log.ts';
import { type Encoded, type Refused, valueDecoder } from '../values.ts';
import { type Core, encodeAll } from './core.ts';
import { sizeRefused } from './errors.ts';

/** What no topic would ever take is replaced before it is sent. @throws FlipstreamError of `encodeAll` */
export async function encodeFitting(core: Core, records: readonly Outgoing[]): Promise<Encoded[]> {
  try {
    return await encodeAll(core, records);
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    const [record] = records;
    if (record && records.length === 1) {
      const value = Buffer.from(JSON.stringify(record.value));
      return replace(core, { ...record, value }, error.message, false);
    }
  }
  const encoded: Encoded[] = [];
  for (const record of records) encoded.push(...(await encodeFitting(core, [record])));
  return encoded;
}

/**
 * Dead letters of records that brokers refused by their topic's own limit. The bytes go along, sealed, so that they
 * can be put back once the limit is raised; where the letter is then refused itself, it goes without them.
 * @throws FlipstreamError `kafka_size_refused` (fatal) when not even that is taken, and those of `encodeAll`
 */
export async function lettersOfRefused(core: Core, refused: readonly Encoded[]): Promise<Encoded[]> {
  const letters: Encoded[] = [];
  for (const record of refused)
    letters.push(
      ...(record.topic === 'deadletter'
        ? await withoutContent(core, record)
        : await replace(core, record, tooLarge(record), true)),
    );
  return letters;
}

function tooLarge({ topic, value }: Encoded): string {
  return `${topic} is set to take only smaller records than this one of ${value.length} bytes: flipstream kafka setup raises its max.message.bytes, then it can be put back`;
}

/** Nothing where this user may write no dead letters, as a host of an agent: then its own log tells of it. */
async function replace(core: Core, record: Encoded, message: string, keep: boolean): Promise<Encoded[]> {
  const { topic, key, value } = record;
  const refused: Refused = {
    record: { offset: -1, timestamp: 0, key, value },
    reason: 'record_too_large',
    message,
  };
  const letter = deadLetter(
    { topic, partition: -1, group: 'publish' },
    refused,
    core.clock(),
    keep ? core.seal : undefined,
  );
  core.counters.deadLetters++;
  try {
    await core.catalog.topic('deadletter');
  } catch (error) {
    if (!(error instanceof FlipstreamError) || error.code !== 'kafka_not_allowed') throw error;
    const { value_hash: hash } = letter.value;
    core.warn(`a record of ${key} was left out, with the hash ${hash}: ${message}`, error);
    return [];
  }
  return encodeLetter(letter, (records) => encodeAll(core, records));
}

async function withoutContent(core: Core, letter: Encoded): Promise<Encoded[]> {
  await core.schemas.readyToRead('deadletter', [{ offset: -1, timestamp: 0, ...letter }]);
  const value = valueDecoder('deadletter', core.schemas.ids)(letter.value);
  if (value.content === null) throw sizeRefused(core.access.brokers);
  return encodeAll(core, [{ topic: 'deadletter', key: letter.key, value: { ...value, content: null } }]);
}
