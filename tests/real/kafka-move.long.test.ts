/** docs/guides/from-one-machine-to-kafka.md as written: a home moves onto a cluster in the middle of a session. */
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROLES } from '../../cli/up/roles.ts';
import { everything } from '../../log/conformance/rig.ts';
import { openKafkaLog } from '../../log/kafka/open.ts';
import { openRegistry } from '../../log/kafka/registry/registry.ts';
import { contents } from '../support/contents.ts';
import { expectChain, landed, verified } from '../support/evidence.ts';
import { heldSession } from '../support/held-session.ts';
import { type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { startRegistry } from '../support/registry.ts';
import type { RegistryServer } from '../support/registry-server.ts';
import { type Rig, startRig } from '../support/rig.ts';

describe.skipIf((await noKafka()) !== null)('from one machine to Kafka', () => {
  let cluster: KafkaCluster;
  let registry: RegistryServer;
  let rig: Rig;
  beforeAll(async () => {
    [cluster, registry, rig] = await Promise.all([startKafka(), startRegistry(), startRig()]);
  });
  afterAll(async () => {
    await rig?.close();
    await Promise.all([registry?.close(), cluster?.stop()]);
  });

  test('P3 nothing is lost or repeated, what was said before is said again, and an open session goes on to its flip', async () => {
    const early = await heldSession(rig, 'early');
    await early.mends();
    await early.passes();
    await landed(rig, early.sessionId, 'flipped');
    const open = await heldSession(rig, 'open');
    await rig.supervisor.stop();
    // The agent goes on while nothing runs.
    await open.mends();

    const where = ['--brokers', cluster.adminBrokers.join(','), '--registry', registry.url];
    const before = `${rig.config.home.warehouse}-before-kafka`;
    const setup = await rig.flipstream(['kafka', 'setup', '--replication', '1', ...where]);
    expect(setup.err).toBe('');
    const moved = await rig.flipstream(['kafka', 'move', '--json', ...where]);
    expect(moved.err).toBe('');
    expect(moved.json()).toMatchObject({ warehouse: before });
    expect(existsSync(rig.config.home.warehouse)).toBe(false);
    // Once more, which changes nothing.
    const again = await rig.flipstream(['kafka', 'move', '--json']);
    expect(again.json()).toMatchObject({
      carried: { 'trace.events': 0, 'oracle.verdicts': 0 },
      warehouse: null,
    });

    await rig.startParts(ROLES);
    await open.passes();
    for (const { sessionId } of [early, open]) {
      await landed(rig, sessionId, 'flipped');
      await expectChain(rig, sessionId);
      expect(await verified(rig, sessionId)).toMatchObject({ state: 'intact', flip: true, problems: [] });
      expect(await rig.sql(`SELECT attempt, retracted FROM flips WHERE session_id = '${sessionId}'`)).toEqual(
        [{ attempt: 2, retracted: null }],
      );
    }
    expect(await rig.sql('SELECT count(*) - count(DISTINCT event_id) AS twice FROM events')).toEqual([
      { twice: 0 },
    ]);

    // Every row of before is there, but for the session that went on.
    const [then, now] = [await contents(before), await contents(rig.config.home.warehouse)];
    for (const table of ['events', 'verdicts', 'tasks', 'quarantine', 'deadletter'] as const)
      expect(now.get(table), table).toEqual(expect.arrayContaining(then.get(table) ?? []));
    const ofEarly = (rows: unknown[] = []) =>
      rows.filter((row) => JSON.stringify(row).includes(early.sessionId));
    for (const table of ['sessions', 'flips'] as const)
      expect(ofEarly(now.get(table))).toEqual(ofEarly(then.get(table)));
  }, 400_000);

  test('an event that comes again after the move is known', async () => {
    const log = openKafkaLog({
      brokers: cluster.adminBrokers,
      tls: false,
      registry: openRegistry({ url: registry.url }),
    });
    const before = await everything(log, 'trace.events');
    await log.publish(before.map(({ key, value }) => ({ topic: 'trace.raw', key, value })));
    await expect
      .poll(async () => (await rig.flipstream(['status', '--json'])).json(), { timeout: 60_000 })
      .toMatchObject({ behind: 0 });
    expect(await everything(log, 'trace.events')).toHaveLength(before.length);
    await log.close();
  }, 120_000);
});
