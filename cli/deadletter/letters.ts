/** Dead letters of a log, one entry for each record that was set aside, however many groups refused it. */
import { breathing } from '../../log/breathing.ts';
import type { Log, PartitionEnd } from '../../log/log.ts';
import { partitionOf } from '../../log/partition.ts';
import type { DeadLetter } from '../../schemas/generated.ts';
import { TOPIC_NAMES, type TopicName } from '../../schemas/topics.ts';

/** The reason under which putting back is recorded: a letter that takes the place out of the list. */
export const PUT_BACK = 'put_back';

/** A record that was set aside, by the place where it lay. */
export interface Letter extends Omit<DeadLetter, 'content' | 'group' | 'source_topic'> {
  /** `topic/partition@offset` of the record; `topic#hash` of one that lies nowhere. */
  id: string;
  source_topic: TopicName;
  /** Who could not use it. */
  groups: string[];
  state: 'waiting' | 'put_back';
  /** Where its letter with the sealed bytes lies in `deadletter`; null when no bytes were kept. */
  kept: { partition: number; offset: number } | null;
}

/** The dead letters of a log as far as they have been read. */
export interface Letters {
  /** Reads what has come since. */
  refresh(): Promise<void>;
  /** Oldest first. */
  all(): Letter[];
  get(id: string): Letter | undefined;
  /** Up to where those about records of this topic have been read. */
  endOf(topic: TopicName): PartitionEnd;
}

const BATCH = 500;

/** Everything that is in `deadletter` now. @param progress told how many were read so far, until it is open */
export async function openLetters(
  log: Log,
  progress: (records: number) => void = () => {},
): Promise<Letters> {
  const letters = new Map<string, Letter>();
  const breathe = breathing();
  const ends = Array.from({ length: await log.partitions('deadletter') }, () => 0);

  async function read(partition: number, told: (records: number) => void): Promise<void> {
    for (;;) {
      const from = ends[partition] ?? 0;
      await breathe();
      const batch = await log.read('deadletter', partition, from, BATCH);
      for (const { offset, value } of batch.records) fold(letters, value, { partition, offset });
      ends[partition] = Math.max(from, batch.nextOffset);
      told(batch.records.length);
      if (batch.nextOffset <= from || batch.nextOffset >= batch.end) return;
    }
  }

  async function refresh(told: (records: number) => void = () => {}): Promise<void> {
    for (const partition of ends.keys()) await read(partition, told);
  }

  let count = 0;
  await refresh((records) => {
    count += records;
    progress(count);
  });
  return {
    refresh: () => refresh(),
    all: () => [...letters.values()].sort((a, b) => a.at.localeCompare(b.at) || a.id.localeCompare(b.id)),
    get: (id) => letters.get(id),
    endOf(topic) {
      // A letter's key is the topic that its record came from.
      const partition = partitionOf(topic, ends.length);
      return { topic: 'deadletter', partition, end: ends[partition] ?? 0 };
    },
  };
}

function fold(
  letters: Map<string, Letter>,
  { content, group, source_topic, ...value }: DeadLetter,
  place: { partition: number; offset: number },
): void {
  const topic = TOPIC_NAMES.find((name) => name === source_topic);
  if (!topic) return;
  const id = idOf(topic, value);
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

/** Characters of the hash that tell records apart which no topic has: too large for it, or of another log. */
const HASH_CHARACTERS = 16;

function idOf(topic: TopicName, value: Omit<DeadLetter, 'content' | 'group' | 'source_topic'>): string {
  const { source_partition, source_offset, value_hash } = value;
  return source_offset < 0
    ? `${topic}#${value_hash.slice(0, HASH_CHARACTERS)}`
    : `${topic}/${source_partition}@${source_offset}`;
}
