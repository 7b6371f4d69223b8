/** docs/guides/kafka.md, "When a topic was deleted", as written: the way out leads back to every flip, and open sessions go on. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Admin } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXIT } from '../../cli/exit.ts';
import { mainScript } from '../../cli/package.ts';
import { ROLES } from '../../cli/up/roles.ts';
import { until } from '../../log/conformance/rig.ts';
import { runCommand } from '../support/cli.ts';
import { contents } from '../support/contents.ts';
import { expectChain, landed, verified } from '../support/evidence.ts';
import { heldSession } from '../support/held-session.ts';
import { clientOf, type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { startRegistry } from '../support/registry.ts';
import type { RegistryServer } from '../support/registry-server.ts';
import { type Rig, startRig } from '../support/rig.ts';

const PATIENCE = { timeout: 60_000, interval: 250 };

describe.skipIf((await noKafka()) !== null)('a topic that was deleted', () => {
  let cluster: KafkaCluster;
  let registry: RegistryServer;
  let rig: Rig;
  let admin: Admin;
  let where: string[];
  beforeAll(async () => {
    [cluster, registry] = await Promise.all([startKafka(), startRegistry()]);
    where = ['--brokers', cluster.adminBrokers.join(','), '--registry', registry.url];
    await setUp();
    rig = await startRig({
      env: {
        FLIPSTREAM_ENGINE: 'kafka',
        FLIPSTREAM_KAFKA_BROKERS: cluster.adminBrokers.join(','),
        FLIPSTREAM_REGISTRY: registry.url,
      },
    });
    admin = clientOf(cluster.adminBrokers).admin();
    await admin.connect();
  });
  afterAll(async () => {
    await admin?.disconnect();
    await rig?.close();
    await Promise.all([registry?.close(), cluster?.stop()]);
  });

  async function setUp(): Promise<void> {
    const setup = ['kafka', 'setup', '--replication', '1', ...where];
    expect(await runCommand(setup, process.env, process.cwd())).toMatchObject({ code: 0, err: '' });
  }

  const status = async () => (await rig.flipstream(['status', '--json'])).json();

  async function remove(topics: string[]): Promise<void> {
    await admin.deleteTopics({ topics });
    await until(async () => (await admin.listTopics()).every((topic) => !topics.includes(topic)));
  }

  test('the streams end and say so; tables of before, onto topics that hold nothing: every flip, and an open session goes on', async () => {
    const early = await heldSession(rig, 'early');
    await early.mends();
    await early.passes();
    await landed(rig, early.sessionId, 'flipped');
    const open = await heldSession(rig, 'open');
    await expect.poll(status, PATIENCE).toMatchObject({ behind: 0 });
    await rig.supervisor.stop();
    const then = await contents(rig.config.home.warehouse);

    await remove(['trace.events']);
    await setUp();
    const streams = spawn(process.execPath, [mainScript(), 'up', '--role', 'streams'], { env: rig.env });
    const said = text(streams.stderr);
    expect(await once(streams, 'exit')).toEqual([EXIT.failed, null]);
    expect(await said).toMatch(/trace\.events\/\d .*flipstream replay/);

    // Agents go on, and their collector publishes: all of it lies in trace.raw alone.
    const collector = spawn(process.execPath, [mainScript(), 'up', '--role', 'collector'], { env: rig.env });
    await expect.poll(status, PATIENCE).toMatchObject({ collector: 'running' });
    await open.mends();
    await expect.poll(status, PATIENCE).toMatchObject({ spool: 0, unpublished: 0 });
    collector.kill();
    await once(collector, 'exit');

    const fresh = join(rig.config.home.root, '..', 'fresh');
    expect(await rig.flipstream(['replay', fresh, '--from', 'archive'])).toMatchObject({ code: 0 });
    await remove((await admin.listTopics()).filter((topic) => !/^__|^trace\.raw$/.test(topic)));
    await admin.deleteGroups((await admin.listGroups()).groups.map(({ groupId }) => groupId));
    await setUp();
    expect(await rig.flipstream(['kafka', 'move', '--home', fresh, ...where])).toMatchObject({ code: 0 });
    renameSync(rig.config.home.warehouse, `${rig.config.home.warehouse}-before`);

    await rig.startParts(ROLES);
    await open.passes();
    for (const { sessionId } of [early, open]) {
      await landed(rig, sessionId, 'flipped');
      await expectChain(rig, sessionId);
      expect(await verified(rig, sessionId)).toMatchObject({ state: 'intact', flip: true, problems: [] });
    }
    const now = await contents(rig.config.home.warehouse);
    for (const table of ['events', 'verdicts', 'tasks'] as const)
      expect(now.get(table), table).toEqual(expect.arrayContaining(then.get(table) ?? []));
    expect(await rig.sql('SELECT count(*) - count(DISTINCT event_id) AS twice FROM events')).toEqual([
      { twice: 0 },
    ]);
  }, 400_000);
});
