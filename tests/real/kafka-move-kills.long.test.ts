/** `flipstream kafka move` killed again and again while it carries: in the end each record is on the cluster once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { REDUCER_GROUPS } from '../../cli/kafka/cluster.ts';
import { event, everything, until } from '../../log/conformance/rig.ts';
import { deadLetter } from '../../log/deadletter.ts';
import { openEmbeddedLog } from '../../log/embedded/open.ts';
import type { KafkaLog } from '../../log/kafka/open.ts';
import { layout } from '../../producers/home.ts';
import { type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { type KafkaRig, kafkaRig } from '../support/kafka-rig.ts';

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
const EVENTS = 30_000;
const SESSIONS = 200;
const KILLS = 4;

describe.skipIf((await noKafka()) !== null)('a move that is killed', () => {
  let cluster: KafkaCluster;
  let rig: KafkaRig;
  const root = mkdtempSync(join(tmpdir(), 'flipstream-move-'));
  const home = layout(join(root, 'home'));
  beforeAll(async () => {
    cluster = await startKafka();
    rig = await kafkaRig(cluster, { partitions: 6, groups: REDUCER_GROUPS });
  });
  afterAll(async () => {
    await rig?.close();
    await cluster?.stop();
    rmSync(root, { recursive: true, force: true });
  });

  async function record(): Promise<void> {
    const log = await openEmbeddedLog({ dir: home.log, maintainEveryMs: null, seal: async (bytes) => bytes });
    for (let n = 0; n < EVENTS; n += 1_000) {
      const some = Array.from({ length: 1_000 }, (_, i) => event(`s${(n + i) % SESSIONS}`, n + i));
      await log.publish(some.map((one) => ({ ...one, topic: 'trace.events' })));
    }
    const record = { offset: 7, timestamp: 0, key: 'k', value: Buffer.from([1]) };
    const refused = { record, reason: 'bad_frame', message: 'm' };
    const place = { topic: 'trace.raw', partition: 0, group: 'redact' } as const;
    await log.publish([deadLetter(place, refused, 0, async (bytes) => bytes)]);
    await log.close();
  }

  const carried = async (log: KafkaLog) => {
    let ends = 0;
    for (let p = 0; p < rig.partitions; p++) ends += (await log.read('trace.events', p, 0, 1)).end;
    return ends;
  };

  test('P3 is run again, and each record is there once, in the order of its session', async () => {
    await record();
    const log = await rig.open();
    const args = ['kafka', 'move', '--json', '--home', home.root, '--oracle-home', join(root, 'oracle')];
    const where = ['--brokers', cluster.adminBrokers.join(','), '--registry', rig.registry.url];
    const start = () => spawn(process.execPath, [MAIN, ...args, ...where], { stdio: ['ignore', 'pipe', 2] });
    for (let kill = 0; kill < KILLS; kill++) {
      const before = await carried(log);
      expect(before, 'the kills come too late').toBeLessThan(EVENTS);
      const child = start();
      const gone = once(child, 'exit');
      await until(async () => (await carried(log)) > before);
      child.kill('SIGKILL');
      expect(await gone).toEqual([null, 'SIGKILL']);
    }
    const last = start();
    expect(await once(last, 'exit')).toEqual([0, null]);

    const there = await everything(log, 'trace.events');
    expect(there).toHaveLength(EVENTS);
    for (const [session, all] of Map.groupBy(there, ({ key }) => key)) {
      const seqs = all.map(({ value }) => value.seq);
      expect(new Set(seqs).size, session).toBe(EVENTS / SESSIONS);
      expect(seqs, session).toEqual(seqs.toSorted((a, b) => a - b));
    }
    const letters = await everything(log, 'deadletter');
    expect(letters.map(({ value }) => [value.source_offset, value.content])).toEqual([
      [-1, Buffer.from([1])],
    ]);
  }, 400_000);

  test('nothing is added to what somebody else has recorded', async () => {
    const other = layout(join(root, 'other'));
    const log = await openEmbeddedLog({ dir: other.log, maintainEveryMs: null });
    await log.publish([{ ...event('s', 1), topic: 'trace.events' }]);
    await log.close();
    const args = ['kafka', 'move', '--home', other.root, '--oracle-home', join(root, 'none')];
    const where = ['--brokers', cluster.adminBrokers.join(','), '--registry', rig.registry.url];
    const child = spawn(process.execPath, [MAIN, ...args, ...where], { stdio: ['ignore', 'ignore', 'pipe'] });
    const said: string[] = [];
    child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
    expect(await once(child, 'close')).toEqual([2, null]);
    expect(said.join('')).toContain('a cluster that nobody has used yet');
    expect(await everything(await rig.open(), 'trace.events')).toHaveLength(EVENTS);
  }, 120_000);
});
