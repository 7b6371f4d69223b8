import { FlipstreamError } from '../../schemas/errors.ts';
import { TOPIC_NAMES, type TopicName } from '../../schemas/topics.ts';
import type { RawRecord, SchemaIds } from '../values.ts';
import type { Registry } from './registry/registry.ts';

/** The registry's answers, kept where encoding and decoding can have them at once. */
export interface Schemas {
  ids: SchemaIds;
  /** Before encoding. @throws FlipstreamError `schema_unregistered` (usage), `registry_unavailable` (retryable) */
  readyToWrite(topics?: Iterable<TopicName>): Promise<void>;
  /**
   * Before decoding: learns every writer's schema that these records name. What the registry definitely does not
   * have, or nobody can read, is left to the decoder to refuse.
   * @throws FlipstreamError `registry_unavailable`, `schema_pending` (retryable)
   */
  readyToRead(records: readonly RawRecord[]): Promise<void>;
}

const SMALLEST_FRAME = 5;

export function createSchemas(registry: Registry): Schemas {
  const own = new Map<TopicName, number>();
  /** Null: there is none. */
  const texts = new Map<number, string | FlipstreamError | null>();

  async function learn(id: number): Promise<void> {
    try {
      texts.set(id, await registry.schemaOf(id));
    } catch (error) {
      if (!(error instanceof FlipstreamError) || error.kind === 'retryable') throw error;
      texts.set(id, error.kind === 'poison' ? null : error);
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
        const text = texts.get(id) ?? null;
        if (text instanceof FlipstreamError) throw text;
        return text;
      },
    },
    async readyToWrite(topics = TOPIC_NAMES) {
      for (const topic of topics) if (!own.has(topic)) own.set(topic, await registry.idFor(topic));
    },
    async readyToRead(records) {
      let last = -1;
      for (const { value } of records) {
        if (value.length < SMALLEST_FRAME || value[0] !== 0) continue;
        const id = value.readUInt32BE(1);
        if (id === last) continue;
        last = id;
        // A missing one is asked about again: the registry remembers for how long not to.
        if (typeof texts.get(id) !== 'string') await learn(id);
      }
    },
  };
}
