import { LRUCache } from 'lru-cache';
import { FlipstreamError } from '../../schemas/errors.ts';
import { TOPIC_NAMES, type TopicName } from '../../schemas/topics.ts';
import type { RawRecord, SchemaIds } from '../values.ts';
import type { Registry } from './registry/registry.ts';

/** The registry's answers, kept where encoding and decoding can have them at once. */
export interface Schemas {
  /** `text` throws `registry_unavailable`, `schema_pending` (retryable) for what cannot be said yet: its record waits. */
  ids: SchemaIds;
  /** Before encoding. @throws FlipstreamError `schema_unregistered` (usage), `registry_unavailable` (retryable) */
  readyToWrite(topics?: Iterable<TopicName>): Promise<void>;
  /**
   * Before decoding: asks for every writer's schema that these records name, all together, so that however many the
   * registry does not have, they have waited their minute at the same time. What it answers comes with `ids`.
   */
  readyToRead(topic: TopicName, records: readonly RawRecord[]): Promise<void>;
}

const SMALLEST_FRAME = 5;
/** Asked for at once. */
const ABREAST = 32;
/** Broken records name ids at random: of more than these that the registry does not have, the rest waits its turn. */
const MOST_PENDING = 256;
const MOST_TROUBLES = 10_000;

export function createSchemas(registry: Registry): Schemas {
  const own = new Map<TopicName, number>();
  const texts = new Map<number, string>();
  /** Why there is no text, as it was last said. */
  const troubles = new LRUCache<number, FlipstreamError>({ max: MOST_TROUBLES });

  async function learn(id: number, topic: TopicName): Promise<FlipstreamError | null> {
    try {
      texts.set(id, await registry.schemaOf(id, topic));
      return null;
    } catch (error) {
      if (!(error instanceof FlipstreamError)) throw error;
      troubles.set(id, error);
      return error;
    }
  }

  return {
    ids: {
      own(topic) {
        const id = own.get(topic);
        if (id === undefined) throw new TypeError(`the schema of ${topic} was not asked for`);
        return id;
      },
      text(id) {
        const text = texts.get(id);
        if (text !== undefined) return text;
        const trouble = troubles.get(id) ?? notAsked(id);
        if (trouble.kind === 'poison') return null;
        throw trouble;
      },
    },
    async readyToWrite(topics = TOPIC_NAMES) {
      for (const topic of topics) if (!own.has(topic)) own.set(topic, await registry.idFor(topic));
    },
    async readyToRead(topic, records) {
      // A missing one is asked about again: the registry remembers for how long not to.
      const unknown = [...idsOf(records)].filter((id) => !texts.has(id));
      let waiting = 0;
      while (unknown.length > 0 && waiting < MOST_PENDING) {
        const said = await Promise.all(unknown.splice(0, ABREAST).map((id) => learn(id, topic)));
        waiting += said.filter((error) => error?.kind === 'retryable').length;
        // Each question would take as long to fail.
        if (said.some((error) => error?.code === 'registry_unavailable')) break;
      }
      for (const id of unknown) troubles.delete(id);
    },
  };
}

function idsOf(records: readonly RawRecord[]): Set<number> {
  const ids = new Set<number>();
  for (const { value } of records)
    if (value.length >= SMALLEST_FRAME && value[0] === 0) ids.add(value.readUInt32BE(1));
  return ids;
}

function notAsked(id: number): FlipstreamError {
  return new FlipstreamError(
    'schema_pending',
    'retryable',
    `the schema registry has not been asked for the id ${id} yet: others come first`,
  );
}
