import { randomBytes } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { schemaText } from '../../schemas/codec.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { sha256 } from '../../schemas/hash.ts';
import { TOPIC_NAMES, TOPICS, type TopicName } from '../../schemas/topics.ts';
import type { SchemaIds } from '../values.ts';
import { integer, text } from './rows.ts';
import type { Transact } from './transact.ts';

/** Partition numbers fit below this, so that a partition's row id is topic id × this + number. */
const PART_STRIDE = 4096;

/** The topics and schemas of one log file. */
export interface Catalog {
  partitions: number;
  schemas: SchemaIds;
  uid: (topic: TopicName) => string;
  /** Row id of a partition. */
  part: (topic: TopicName, partition: number) => number;
  topicOfPart: (part: number) => { topic: string; partition: number };
}

/** Reads the catalog; what this release has and the file has not (a new topic, a newer schema) is added. */
export async function openCatalog(db: DatabaseSync, transact: Transact): Promise<Catalog> {
  const partitions = Number(
    text(db.prepare(`SELECT value FROM meta WHERE key = 'partitions'`).get(), 'value'),
  );
  if (lacks(db)) await transact(() => addMissing(db, partitions));

  const schemaByHash = db.prepare('SELECT id FROM schema WHERE hash = ?');
  const schemaById = db.prepare('SELECT text FROM schema WHERE id = ?');
  const ids = new Map<string, number>();
  for (const topic of TOPIC_NAMES) {
    ids.set(topic, integer(schemaByHash.get(sha256(schemaText(TOPICS[topic].schema))), 'id'));
  }
  const topics = new Map<string, { id: number; uid: string }>();
  const names = new Map<number, string>();
  for (const row of db.prepare('SELECT id, name, uid FROM topic').all()) {
    topics.set(text(row, 'name'), { id: integer(row, 'id'), uid: text(row, 'uid') });
    names.set(integer(row, 'id'), text(row, 'name'));
  }
  const known = <T>(topic: string, value: T | undefined): T => {
    if (value !== undefined) return value;
    throw new FlipstreamError('unknown_topic', 'usage', `there is no topic ${topic}: see schemas/topics.ts`);
  };
  return {
    partitions,
    schemas: {
      own: (topic) => known(topic, ids.get(topic)),
      text: (id) => {
        const row = schemaById.get(id);
        return row ? text(row, 'text') : null;
      },
    },
    uid: (topic) => known(topic, topics.get(topic)).uid,
    part: (topic, partition) => {
      if (!Number.isInteger(partition) || partition < 0 || partition >= partitions) {
        throw new FlipstreamError(
          'unknown_partition',
          'usage',
          `${topic} has the partitions 0 to ${partitions - 1}, not ${partition}`,
        );
      }
      return known(topic, topics.get(topic)).id * PART_STRIDE + partition;
    },
    topicOfPart: (part) => ({
      topic: names.get(Math.floor(part / PART_STRIDE)) ?? '?',
      partition: part % PART_STRIDE,
    }),
  };
}

function lacks(db: DatabaseSync): boolean {
  const topic = db.prepare('SELECT 1 FROM topic WHERE name = ?');
  const schema = db.prepare('SELECT 1 FROM schema WHERE hash = ?');
  return TOPIC_NAMES.some((name) => !topic.get(name) || !schema.get(sha256(schemaText(TOPICS[name].schema))));
}

function addMissing(db: DatabaseSync, partitions: number): void {
  const addSchema = db.prepare('INSERT OR IGNORE INTO schema (name, hash, text) VALUES (?, ?, ?)');
  const addTopic = db.prepare('INSERT OR IGNORE INTO topic (name, uid) VALUES (?, ?)');
  const addPart = db.prepare('INSERT OR IGNORE INTO part (id, topic, partition) VALUES (?, ?, ?)');
  const topicId = db.prepare('SELECT id FROM topic WHERE name = ?');
  for (const name of TOPIC_NAMES) {
    const schema = TOPICS[name].schema;
    addSchema.run(schema, sha256(schemaText(schema)), schemaText(schema));
    addTopic.run(name, randomBytes(16).toString('hex'));
    const id = integer(topicId.get(name), 'id');
    for (let p = 0; p < partitions; p++) addPart.run(id * PART_STRIDE + p, id, p);
  }
}
