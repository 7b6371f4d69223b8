/** Dead letters of a log, one entry for each record that was set aside, however many groups refused it. */
import type { Log } from '../../log/log.ts';
import type { DeadLetter } from '../../schemas/generated.ts';
import { TOPIC_NAMES, type TopicName } from '../../schemas/topics.ts';

/** The reason under which putting back is recorded: a letter that takes the place out of the list. */
export const PUT_BACK = 'put_back';

/** A record that was set aside, by the place where it lay. */
export interface Letter extends Omit<DeadLetter, 'content' | 'group' | 'source_topic'> {
  /** `topic/partition@offset` of the record. */
  id: string;
  source_topic: TopicName;
  /** Who could not use it. */
  groups: string[];
  state: 'waiting' | 'put_back';
  /** Where its letter with the sealed bytes lies in `deadletter`; null when no bytes were kept. */
  kept: { partition: number; offset: number } | null;
}

const BATCH = 500;

/** Everything in `deadletter`, oldest first. */
export async function readLetters(log: Log): Promise<Letter[]> {
  const letters = new Map<string, Letter>();
  for (let partition = 0; partition < (await log.partitions('deadletter')); partition++) {
    for (let from = 0; ; ) {
      const batch = await log.read('deadletter', partition, from, BATCH);
      for (const { offset, value } of batch.records) fold(letters, value, { partition, offset });
      if (batch.nextOffset <= from || batch.nextOffset >= batch.end) break;
      from = batch.nextOffset;
    }
  }
  return [...letters.values()].sort((a, b) => a.at.localeCompare(b.at) || a.id.localeCompare(b.id));
}

function fold(
  letters: Map<string, Letter>,
  { content, group, source_topic, ...value }: DeadLetter,
  place: { partition: number; offset: number },
): void {
  const topic = TOPIC_NAMES.find((name) => name === source_topic);
  if (!topic) return;
  const id = `${topic}/${value.source_partition}@${value.source_offset}`;
  const known = letters.get(id);
  if (value.reason === PUT_BACK) {
    if (known) known.state = 'put_back';
    return;
  }
  const letter = known ?? {
    ...value,
    id,
    source_topic: topic,
    groups: [],
    state: 'waiting' as const,
    kept: null,
  };
  if (!letter.groups.includes(group)) letter.groups.push(group);
  if (content) letter.kept ??= place;
  letters.set(id, letter);
}
