/** Imports onto a real broker: the same events as on the home's own log, each once, whatever breaks off. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { everything } from '../../log/conformance/rig.ts';
import type { Log } from '../../log/log.ts';
import { importPaths } from '../../producers/import/import.ts';
import { type Bench, importBench, jsonl, transcript } from '../../producers/import/testing.ts';
import { type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { type KafkaRig, kafkaRig } from '../support/kafka-rig.ts';

const DATA = fileURLToPath(new URL('../../../shared/data/trajectories', import.meta.url));

describe.skipIf((await noKafka()) !== null)('import onto a real broker', () => {
  let cluster: KafkaCluster;
  let kafka: KafkaRig;
  let here: Bench;
  let there: Bench;
  beforeAll(async () => {
    cluster = await startKafka();
    kafka = await kafkaRig(cluster);
    here = importBench();
    there = importBench();
  });
  afterAll(async () => {
    here?.remove();
    there?.remove();
    await kafka?.close();
    await cluster?.stop();
  });

  const onto = (log: Pick<Log, 'publish'>, { home }: Bench, ...paths: string[]) =>
    importPaths({ paths, ...{ home, log, clock: Date.now, limit: 1024 * 1024, warn: () => {} } });
  const told = async () =>
    (await everything(await kafka.open(), 'trace.raw')).map(({ key, value }) => ({ key, value }));

  test('every real trajectory, as on the own log; twice gives nothing new', async () => {
    const log = await kafka.open();
    const report = await onto(log, there, DATA);
    expect(report).toEqual(await onto(here.log, here, DATA));
    expect(report.reasons).toEqual({});
    const first = await told();
    expect(first.map(({ value }) => value.session_id).sort()).toEqual(
      here.log.events.map(({ session_id }) => session_id).sort(),
    );
    expect(first.every(({ key, value }) => key === value.session_id)).toBe(true);
    expect(new Set(first.map(({ value }) => value.event_id)).size).toBe(first.length);
    await onto(log, there, DATA);
    expect(await told()).toHaveLength(first.length);
  });

  test('what could not be published is when it is asked for again', async () => {
    const before = (await told()).length;
    const log = await kafka.open();
    const path = there.file('late.jsonl', jsonl(transcript('late')));
    const broken = { publish: () => Promise.reject(new Error('the broker is gone')) };
    await expect(onto(broken, there, path)).rejects.toThrow('the broker is gone');
    expect(await told()).toHaveLength(before);
    expect((await onto(log, there, path)).reasons).toEqual({});
    const late = (await told()).filter(({ value }) => value.session_id === 'import:claude-code:late');
    expect(late.map(({ value }) => value.seq)).toEqual(late.map((_, at) => at));
    expect(late.map(({ value }) => value.type)).toEqual([
      ...['session_start', 'message', 'message', 'tool_call', 'session_end'],
    ]);
  });
});
