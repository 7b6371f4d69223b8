import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, createWriteStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Means } from './kafka-broker-means.ts';

const call = promisify(execFile);

export interface BrokerProcess {
  signal(signal: NodeJS.Signals): void;
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>;
}

export interface BrokerFiles {
  id: number;
  config: string;
  data: string;
  /** Where its output goes. */
  root: string;
  clusterId: string;
  scram: Readonly<Record<string, string>>;
}

/** Small, quick to start and quiet; slow at full speed, which tests do not need. */
export const QUICK_JVM = [
  '-Xmx512m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
];

/** Starts a broker; formats its data when there is none. Does not wait until it answers. */
export function startBroker(
  means: Extract<Means, { kind: 'jars' | 'docker' }>,
  files: BrokerFiles,
): Promise<BrokerProcess> {
  return means.kind === 'jars' ? fromJars(means.jars, files) : fromImage(means.image, files);
}

async function fromJars(jars: string, files: BrokerFiles): Promise<BrokerProcess> {
  if (!existsSync(join(files.data, 'meta.properties'))) {
    const format = ['kafka.tools.StorageTool', 'format', '-t', files.clusterId, '-c', files.config];
    await call('java', [...QUICK_JVM, '-cp', jars, ...format, ...scramArguments(files)]);
  }
  // The shell ends the broker when its input does, and that ends with us, however we end.
  const child = spawn(
    'sh',
    [
      '-c',
      'java "$@" </dev/null & echo $!; cat >/dev/null; kill -9 $! 2>/dev/null; wait',
      'broker',
      ...[...QUICK_JVM, '-cp', jars, 'kafka.Kafka', files.config],
    ],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  const lines = createInterface({ input: child.stdout });
  const pid = Number((await once(lines, 'line'))[0]);
  keepOutput(child, files);
  return {
    signal: (signal) => void process.kill(pid, signal),
    async kill() {
      if (child.exitCode !== null) return;
      const gone = once(child, 'close');
      child.stdin.end();
      await gone;
    },
  };
}

async function fromImage(image: string, files: BrokerFiles): Promise<BrokerProcess> {
  const name = `flipstream-test-${files.clusterId}-${files.id}`;
  const docker = (...args: string[]) => spawnSync('docker', args);
  const inside = `
    ls ${files.data}/meta.properties || /opt/kafka/bin/kafka-storage.sh format -t ${files.clusterId} -c ${files.config} ${scramArguments(files).join(' ')}
    exec /opt/kafka/bin/kafka-server-start.sh ${files.config}`;
  const child = spawn(
    'docker',
    [
      ...['run', '--rm', '--interactive', '--network', 'host', '--name', name, '--user', 'root'],
      ...['--volume', `${files.root}:${files.root}`, '--entrypoint', 'sh', image, '-c', inside],
    ],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  );
  keepOutput(child, files);
  return {
    signal: (signal) => void docker('kill', '--signal', signal, name),
    async kill() {
      if (child.exitCode !== null) return;
      const gone = once(child, 'close');
      docker('kill', name);
      await gone;
    },
  };
}

function scramArguments({ scram }: BrokerFiles): string[] {
  return Object.entries(scram).flatMap(([name, password]) => [
    '--add-scram',
    `SCRAM-SHA-512=[name=${name},password=${password}]`,
  ]);
}

/** For whoever looks into a broker that did not start. */
function keepOutput(child: ChildProcess, { root, id }: BrokerFiles): void {
  const path = join(root, `broker-${id}.log`);
  const file = createWriteStream(path, { flags: 'a' });
  file.on('error', () => undefined);
  child.stdout?.pipe(file, { end: false });
  child.stderr?.pipe(file, { end: false });
  child.once('error', (error) => appendFileSync(path, `${error.message}\n`));
}
