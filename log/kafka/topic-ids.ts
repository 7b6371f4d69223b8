/** Ids of topics, which a topic that is made anew does not share with the old one. Kafka's Metadata, version 12. */
import type { Broker } from 'kafkajs/src/cluster/index.js';
import Encoder from 'kafkajs/src/protocol/encoder.js';

const METADATA = 3;
const VERSION = 12;

export interface DescribedTopic {
  /** Kafka's error code; 0 is none, 3 an unknown topic. */
  error: number;
  /** Hexadecimal; empty when the brokers are too old to have ids. */
  id: string;
  partitions: number;
}

export interface DescribedCluster {
  id: string;
  topics: Map<string, DescribedTopic>;
}

/** Whether this broker can tell ids (from Kafka 2.8). */
export function tellsIds(broker: Broker): boolean {
  return (broker.versions?.[METADATA]?.maxVersion ?? 0) >= VERSION;
}

export function describe(broker: Broker, topics: readonly string[]): Promise<DescribedCluster> {
  const encode = async () => new Encoder().writeBuffer(question(topics));
  const decode = async (body: Buffer) => readAnswer(body);
  return broker.connectionPool.send({
    request: { apiKey: METADATA, apiVersion: VERSION, apiName: 'Metadata', encode },
    response: { decode, parse: async (answer) => answer },
  });
}

const NO_ID = Buffer.alloc(16);
const NO_TAGS = Buffer.from([0]);

function question(topics: readonly string[]): Buffer {
  const parts: Buffer[] = [NO_TAGS, varint(topics.length + 1)];
  for (const topic of topics) {
    const name = Buffer.from(topic);
    parts.push(NO_ID, varint(name.length + 1), name, NO_TAGS);
  }
  // Nothing is created, and nobody asks what is allowed.
  parts.push(Buffer.from([0, 0]), NO_TAGS);
  return Buffer.concat(parts);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}

function readAnswer(body: Buffer): DescribedCluster {
  const reader = compactReader(body);
  reader.tags();
  reader.skip(4); // throttle time
  for (let brokers = reader.count(); brokers > 0; brokers--) {
    reader.skip(4);
    reader.text();
    reader.skip(4);
    reader.text();
    reader.tags();
  }
  const id = reader.text();
  reader.skip(4); // controller
  const topics = new Map<string, DescribedTopic>();
  for (let left = reader.count(); left > 0; left--) {
    const error = reader.int16();
    const name = reader.text();
    const topicId = reader.bytes(16).toString('hex');
    reader.skip(1); // internal
    const partitions = reader.count();
    for (let p = partitions; p > 0; p--) {
      reader.skip(2 + 4 + 4 + 4);
      for (let list = 0; list < 3; list++) reader.skip(4 * reader.count());
      reader.tags();
    }
    reader.skip(4); // what is allowed
    reader.tags();
    topics.set(name, { error, id: topicId, partitions });
  }
  return { id, topics };
}

/** Kafka's compact encoding: lengths are varints, one more than they say; 0 is null. */
function compactReader(body: Buffer) {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = body[at++] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const count = () => Math.max(varint() - 1, 0);
  const skip = (length: number): void => {
    at += length;
  };
  const bytes = (length: number) => {
    skip(length);
    return body.subarray(at - length, at);
  };
  return {
    count,
    bytes,
    skip,
    int16: () => bytes(2).readInt16BE(),
    text: () => bytes(count()).toString(),
    tags() {
      for (let tags = varint(); tags > 0; tags--) {
        varint();
        const length = varint();
        at += length;
      }
    },
  };
}
