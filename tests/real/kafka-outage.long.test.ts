/** P1 a broker that is gone for an hour of simulated time, in the middle of sessions that go on. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sink, startSink } from '../../consumers/sink.ts';
import type { KafkaLog } from '../../log/kafka/open.ts';
import type { Running } from '../../log/log.ts';
import { type Home, layout } from '../../producers/home.ts';
import { headerHash } from '../../schemas/header.ts';
import { createJoin } from '../../streams/join/join.ts';
import { createRedact } from '../../streams/redact/redact.ts';
import { query } from '../../warehouse/query.ts';
import { type Capture, createCapture } from '../support/capture.ts';
import { type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { type KafkaRig, kafkaRig } from '../support/kafka-rig.ts';
import { createLoad, type LoadSession } from '../support/load.ts';

const MINUTE = 60_000;
const PATIENCE = { timeout: 120_000, interval: 250 };

describe.skipIf((await noKafka()) !== null)('on a real broker', () => {
  let cluster: KafkaCluster;
  let rig: KafkaRig;
  let home: Home;
  let log: KafkaLog;
  let capture: Capture;
  let streams: Running[] = [];
  let sink: Sink;
  const time = { now: Date.now() };
  const clock = () => time.now;
  beforeAll(async () => {
    cluster = await startKafka();
    rig = await kafkaRig(cluster, { partitions: 2, groups: ['redact', 'join'] });
    home = layout(mkdtempSync(join(tmpdir(), 'flipstream-outage-')));
    log = await rig.open({ clock });
    capture = createCapture({ home, time, log });
    await capture.start();
    streams = [log.run(createRedact()), log.run(createJoin({ keyRing: { v: 1, keys: [] } }))];
    sink = await startSink({ log, warehouse: home.warehouse, clock, flushMs: 50 });
  });
  afterAll(async () => {
    await capture?.stop();
    await Promise.all([sink, ...streams].map((part) => part?.stop()));
    await rig?.close();
    await cluster?.stop();
    if (home) rmSync(home.root, { recursive: true, force: true });
  });

  const sessions: LoadSession[] = [];
  function turns(minutes: number): void {
    for (const session of sessions) session.turn();
    time.now += minutes * MINUTE;
  }

  async function eventsOf({ id }: LoadSession) {
    const { columns, rows } = await query(
      home.warehouse,
      `SELECT * FROM events WHERE session_id = '${id}' AND type <> 'session_end' ORDER BY seq`,
    );
    return rows.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])));
  }

  async function complete(): Promise<void> {
    expect(await capture.drained(PATIENCE.timeout)).toBe(true);
    for (const session of sessions)
      await expect.poll(async () => (await eventsOf(session)).length, PATIENCE).toBe(session.events());
  }

  test('P1 what agents do meanwhile waits in the spool; afterwards each event is there once, in unbroken chains', async ({
    skip,
  }) => {
    const [node] = cluster.nodes;
    if (!node) return skip('these brokers are not ours to kill');
    const load = createLoad(home, clock);
    sessions.push(...Array.from({ length: 4 }, () => load.session()));
    turns(1);
    await complete();

    await node.kill();
    for (let minutes = 0; minutes < 60; minutes += 10) {
      turns(10);
      expect(await capture.drained(200)).toBe(false);
    }
    await node.start();
    turns(1);
    await complete();

    for (const session of sessions) {
      const events = await eventsOf(session);
      expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(session.events());
      let prev: unknown = null;
      for (const [at, event] of events.entries()) {
        expect({ seq: event.seq, prev: event.prev }, `event ${at}`).toEqual({ seq: at, prev });
        prev = headerHash(event);
      }
    }
    const { rows } = await query(home.warehouse, 'SELECT count(*)::INTEGER FROM deadletter');
    expect(rows).toEqual([[0]]);
    expect((await query(home.warehouse, 'SELECT sum(gaps)::INTEGER FROM sessions')).rows).toEqual([[0]]);
  }, 400_000);
});
