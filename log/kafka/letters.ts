import type { TopicName } from '../../schemas/topics.ts';
import { deadLetter, encodeLetter } from '../deadletter.ts';
import type { Encoded, Refused } from '../values.ts';
import { type Core, encodeAll } from './core.ts';

/**
 * Dead letters of what was refused, but for those written before: a group keeps, beside its offset, up to where
 * it has written them, since a consumer whose own store is the truth may meet a record again.
 * @param written letters of records below this offset have been written
 */
export async function lettersFor(
  core: Core,
  place: { topic: TopicName; partition: number; group: string },
  refused: readonly Refused[],
  written: number,
): Promise<Encoded[]> {
  const letters: Encoded[] = [];
  for (const one of refused.filter(({ record }) => record.offset >= written)) {
    const letter = deadLetter(place, one, core.clock(), core.seal);
    letters.push(...(await encodeLetter(letter, (records) => encodeAll(core, records))));
  }
  return letters;
}

/** Up to where letters will have been written once these are. */
export function writtenAfter(refused: readonly Refused[], written: number): number {
  return refused.reduce((most, { record }) => Math.max(most, record.offset + 1), written);
}
