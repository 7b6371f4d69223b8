/**
 * The image that docker-compose.yml names for the brokers, or a stand-in where it cannot be pulled: Debian with Java,
 * Kafka's jars from Maven, and those of Kafka's scripts that the compose file, its start script and the guide call.
 */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { imageId, makeDebianImage } from './debian-image.ts';
import { ensureEngine } from './docker-engine.ts';
import { KAFKA_IMAGE, KAFKA_JARS, KAFKA_VERSION } from './kafka-broker-means.ts';
import { QUICK_JVM } from './kafka-broker-process.ts';
import { type Artifact, fetchJars } from './maven.ts';

const PACKAGES = ['bash', 'default-jre-headless'];
const JARS: readonly Artifact[] = [
  ...KAFKA_JARS,
  { group: 'org.apache.kafka', name: 'kafka-tools', version: KAFKA_VERSION },
];
/** What Kafka's own scripts of these names start. */
const MAIN_CLASSES = {
  'kafka-broker-api-versions.sh': 'org.apache.kafka.tools.BrokerApiVersionsCommand',
  'kafka-configs.sh': 'org.apache.kafka.tools.ConfigCommand',
  'kafka-server-start.sh': 'kafka.Kafka',
  'kafka-storage.sh': 'kafka.tools.StorageTool',
};
const SCRIPTS = Object.entries(MAIN_CLASSES).map(([name, main]) => ({
  name,
  text: `#!/bin/sh\nexec java ${QUICK_JVM.join(' ')} -cp '/opt/kafka/libs/*' ${main} "$@"\n`,
}));

/** Another recipe makes another image; an image that is there is not made again. */
const NAME = `flipstream-test-broker:${createHash('sha256')
  .update(JSON.stringify([PACKAGES, JARS, SCRIPTS]))
  .digest('hex')
  .slice(0, 16)}`;

/** @returns the image's name, or why there is none. @throws where nothing may be skipped (CI). */
export async function brokerImage(): Promise<{ image: string } | { reason: string }> {
  const found = await find();
  if ('reason' in found && process.env.CI) throw new Error(`CI may not skip this: ${found.reason}`);
  return found;
}

async function find(): Promise<{ image: string } | { reason: string }> {
  const none = await ensureEngine();
  if (none) return { reason: none };
  for (const image of [KAFKA_IMAGE, NAME]) if ((await imageId(image)) !== null) return { image };
  const jars = await fetchJars(`kafka-tools-${KAFKA_VERSION}`, JARS);
  if ('reason' in jars) return jars;
  const directory = mkdtempSync(join(tmpdir(), 'flipstream-image-'));
  try {
    fill(directory, jars.folder);
    const failed = await makeDebianImage({ name: NAME, packages: PACKAGES, directory });
    return failed ? { reason: failed } : { image: NAME };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function fill(directory: string, jars: string): void {
  const bin = join(directory, 'opt/kafka/bin');
  mkdirSync(bin, { recursive: true });
  cpSync(jars, join(directory, 'opt/kafka/libs'), { recursive: true });
  for (const { name, text } of SCRIPTS) writeFileSync(join(bin, name), text, { mode: 0o755 });
}
