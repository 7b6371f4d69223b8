/** By what means a test can have a broker, in this order: named ones, a Docker engine with the image, the jars. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from './cache-folder.ts';

const call = promisify(execFile);

const KAFKA_VERSION = '4.4.0';
const IMAGE = `apache/kafka:${KAFKA_VERSION}`;

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
  if (await worked('docker', ['image', 'inspect', IMAGE])) return { kind: 'docker', image: IMAGE };
  const jars = join(cacheFolder(), `kafka-${KAFKA_VERSION}`);
  if (!(await worked('java', ['-version']))) {
    return none('there is no Java to run a broker with');
  }
  if (!existsSync(jars)) {
    if (!(await worked('mvn', ['--version']))) return none('there is no Maven to fetch a broker with');
    try {
      await fetchJars(jars);
    } catch (error) {
      return none(`Maven did not fetch the broker (${error instanceof Error ? error.message : error})`);
    }
  }
  return { kind: 'jars', jars: join(jars, '*') };
}

function none(why: string): Means {
  const reason = `Kafka: FLIPSTREAM_TEST_KAFKA names no brokers, no Docker engine has ${IMAGE}, and ${why}.`;
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

/** The folder appears whole or not at all: another test may be looking for it. */
async function fetchJars(to: string): Promise<void> {
  mkdirSync(cacheFolder(), { recursive: true });
  const work = mkdtempSync(join(cacheFolder(), 'fetching-'));
  try {
    writeFileSync(join(work, 'pom.xml'), POM);
    await call(
      'mvn',
      ['-B', '-q', '-f', join(work, 'pom.xml'), 'dependency:copy-dependencies', '-DoutputDirectory=jars'],
      { timeout: 300_000 },
    );
    if (readdirSync(join(work, 'jars')).length === 0) throw new Error('it brought nothing');
    if (!existsSync(to)) renameSync(join(work, 'jars'), to);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const dependency = (group: string, artifact: string, version: string) =>
  `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>flipstream</groupId><artifactId>test-broker</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    ${dependency('org.apache.kafka', 'kafka_2.13', KAFKA_VERSION)}
    ${dependency('org.slf4j', 'slf4j-simple', '1.7.36')}
  </dependencies>
</project>
`;
