/** A running pipeline is updated part by part, on either engine: this release and one with a field more, as processes. */
import { execFile } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { partOf } from '../../cli/commands/up.ts';
import type { Role } from '../../cli/up/roles.ts';
import { type Supervisor, supervise } from '../../cli/up/supervise.ts';
import { type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { type KafkaRig, kafkaRig } from '../support/kafka-rig.ts';
import { unbroken } from '../support/kills.ts';
import { createLoad, type LoadSession } from '../support/load.ts';
import { ADDED, nextRelease, type Release, THIS_RELEASE } from '../support/next-release.ts';
import { type Rig, type Row, startRig } from '../support/rig.ts';

const PARTITIONS = 2;
const GROUPS = ['redact', 'join', 'metrics-session', 'metrics-bucket'];
const CONSUMERS: readonly Role[] = ['streams', 'sink'];
const PRODUCERS: readonly Role[] = ['collector'];
const TURNS = 20;
const command = promisify(execFile);

const next = nextRelease();
afterAll(() => next.remove());

describe('on the home\u2019s own log', () => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig({ roles: ['oracle'] });
  });
  afterAll(() => rig?.close());

  test('P7 old producers with new consumers, new producers with old consumers: no event lost or cut', () =>
    upgrade(rig));
});

describe.skipIf((await noKafka()) !== null)('on a real broker', () => {
  let cluster: KafkaCluster;
  let kafka: KafkaRig;
  let rig: Rig;
  beforeAll(async () => {
    cluster = await startKafka();
    kafka = await kafkaRig(cluster, { partitions: PARTITIONS, groups: GROUPS });
    rig = await startRig({
      roles: ['oracle'],
      env: {
        FLIPSTREAM_ENGINE: 'kafka',
        FLIPSTREAM_KAFKA_BROKERS: cluster.adminBrokers.join(','),
        FLIPSTREAM_REGISTRY: kafka.registry.url,
      },
    });
  });
  afterAll(async () => {
    await rig?.close();
    await kafka?.close();
    await cluster?.stop();
  });

  test('P7 old producers with new consumers, new producers with old consumers: no event lost or cut', () =>
    upgrade(rig, async () => {
      const shape = ['--partitions', String(PARTITIONS), '--replication', '1'];
      await command(process.execPath, [next.main, 'kafka', 'setup', ...shape], { env: rig.env });
    }));
});

/** @param deploy what an operator runs before the first part of the next release starts. */
async function upgrade(rig: Rig, deploy: () => Promise<void> = async () => {}): Promise<void> {
  const load = createLoad(rig.config.home);
  const session = load.session();
  const work = (of: LoadSession) => {
    for (let turn = 0; turn < TURNS; turn++) of.turn();
  };
  const running: Supervisor[] = [];
  const logs: string[] = [];
  const open: number[] = [];

  async function start({ main }: Release, roles: readonly Role[]): Promise<Supervisor> {
    const { home, oracleHome } = rig.config;
    const parts = roles.map((role) => {
      const { args, ...part } = partOf(role, home.root, oracleHome.root, {});
      return { ...part, args: [main, ...args.slice(1)] };
    });
    const file = join(rig.place.root, `parts-${logs.length}.log`);
    logs.push(file);
    const stderr = openSync(file, 'a');
    const supervisor = supervise(parts, rig.env, pino({ level: 'silent' }), stderr);
    running.push(supervisor);
    open.push(stderr);
    await supervisor.ready;
    return supervisor;
  }
  const count = (of: LoadSession) =>
    rig.sql(`SELECT count(*) AS n FROM events WHERE session_id = '${of.id}'`);
  /** As the next release sees them: it alone knows every column. */
  async function rows(of: LoadSession): Promise<Row[]> {
    const text = `SELECT * FROM events WHERE session_id = '${of.id}' ORDER BY seq`;
    const { stdout } = await command(process.execPath, [next.main, 'sql', text, '--json'], {
      env: rig.env,
      maxBuffer: 2 ** 26,
    });
    return z.array(z.record(z.string(), z.unknown())).parse(JSON.parse(stdout));
  }
  async function landed(of: LoadSession): Promise<void> {
    await expect.poll(() => count(of), { timeout: 60_000, interval: 500 }).toEqual([{ n: of.events() }]);
    unbroken(of.id, await rows(of));
  }

  try {
    let producers = await start(THIS_RELEASE, PRODUCERS);
    let consumers = await start(THIS_RELEASE, CONSUMERS);
    work(session);
    await landed(session);

    await deploy();
    await consumers.stop();
    consumers = await start(next, CONSUMERS);
    work(session);
    await landed(session);

    await consumers.stop();
    await expect(start(THIS_RELEASE, ['sink'])).rejects.toMatchObject({ code: 'table_newer' });
    consumers = await start(THIS_RELEASE, ['streams']);
    const saidByOld = logs.at(-1) ?? '';
    await producers.stop();
    producers = await start(next, PRODUCERS);
    const newer = load.session();
    work(newer);
    await expect
      .poll(() => readFileSync(saidByOld, 'utf8'), { timeout: 60_000 })
      .toContain(`holds records of a newer release (${ADDED.name}): update this process`);
    expect(await count(newer)).toEqual([{ n: 0 }]);

    await consumers.stop();
    await start(next, CONSUMERS);
    await landed(newer);
    expect(new Set((await rows(newer)).map((row) => row[ADDED.name]))).toEqual(new Set([ADDED.value]));

    await producers.stop();
    await start(THIS_RELEASE, PRODUCERS);
    work(newer);
    work(session);
    await landed(newer);
    await landed(session);
    // Of a broken chain or of gaps there would be more.
    const marks = await rig.sql('SELECT DISTINCT marks FROM sessions');
    expect(marks).toEqual([{ marks: ['capture_same_user'] }]);
    expect(await rig.sql('SELECT * FROM deadletter')).toEqual([]);
  } finally {
    await Promise.all(running.map((each) => each.stop()));
    for (const file of open) closeSync(file);
  }
}
