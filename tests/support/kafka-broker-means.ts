/** By what means a test can have a broker, in this order: named ones, a Docker engine with the image, the jars. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Artifact, fetchJars } from './maven.ts';

const call = promisify(execFile);

export const KAFKA_VERSION = '4.4.0';
export const KAFKA_IMAGE = `apache/kafka:${KAFKA_VERSION}`;

export const KAFKA_JARS: readonly Artifact[] = [
  { group: 'org.apache.kafka', name: 'kafka_2.13', version: KAFKA_VERSION },
  { group: 'org.slf4j', name: 'slf4j-simple', version: '1.7.36' },
];

export type Means =
  | { kind: 'given'; brokers: string[] }
  | { kind: 'docker'; image: string }
  /** `jars` is a class path. */
  | { kind: 'jars'; jars: string }
  | { kind: 'none'; reason: string };

let found: Promise<Means> | null = null;

export function findMeans(): Promise<Means> {
  found ??= find();
  return found;
}

async function find(): Promise<Means> {
  const given = process.env.FLIPSTREAM_TEST_KAFKA;
  if (given) return { kind: 'given', brokers: given.split(',').map((one) => one.trim()) };
  if (await worked('docker', ['image', 'inspect', KAFKA_IMAGE]))
    return { kind: 'docker', image: KAFKA_IMAGE };
  if (!(await worked('java', ['-version']))) return none('there is no Java to run a broker with');
  const jars = await fetchJars(`kafka-${KAFKA_VERSION}`, KAFKA_JARS);
  if ('reason' in jars) return none(jars.reason);
  return { kind: 'jars', jars: join(jars.folder, '*') };
}

function none(why: string): Means {
  const reason = `Kafka: FLIPSTREAM_TEST_KAFKA names no brokers, no Docker engine has ${KAFKA_IMAGE}, and ${why}.`;
  return { kind: 'none', reason };
}

async function worked(program: string, args: readonly string[]): Promise<boolean> {
  try {
    await call(program, args, { timeout: 60_000 });
    return true;
  } catch {
    return false;
  }
}
