/** The whole path with the real Claude Code and the pipeline on a real broker: what is true on the home's own log is true here. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { layout } from '../../producers/home.ts';
import { createAgent } from '../support/agent.ts';
import { contents } from '../support/contents.ts';
import { flips } from '../support/flip-session.ts';
import { type KafkaCluster, noKafka, startKafka } from '../support/kafka-broker.ts';
import { type KafkaRig, kafkaRig } from '../support/kafka-rig.ts';
import { type Rig, startRig } from '../support/rig.ts';

const GROUPS = ['redact', 'join', 'metrics-session', 'metrics-bucket'];

describe.skipIf((await noKafka()) !== null)('on a real broker', () => {
  let cluster: KafkaCluster;
  let kafka: KafkaRig;
  let rig: Rig;
  let embedded: Rig;
  beforeAll(async () => {
    cluster = await startKafka();
    kafka = await kafkaRig(cluster, { groups: GROUPS });
    rig = await startRig({
      env: {
        FLIPSTREAM_ENGINE: 'kafka',
        FLIPSTREAM_KAFKA_BROKERS: cluster.adminBrokers.join(','),
        FLIPSTREAM_REGISTRY: kafka.registry.url,
      },
    });
    embedded = await startRig();
  });
  afterAll(async () => {
    await rig?.close();
    await embedded?.close();
    await kafka?.close();
    await cluster?.stop();
  });

  test('FAIL, block, fix, PASS, flip; the same SQL answers as on the home\u2019s own log', async () => {
    const answers = [];
    for (const one of [rig, embedded]) {
      await flips(one, await createAgent(one, 'agent'));
      await expect
        .poll(() => one.sql('SELECT count(*) AS n FROM flip_metrics'), { timeout: 30_000 })
        .not.toEqual([{ n: 0 }]);
      answers.push(await asked(one));
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(existsSync(join(rig.config.home.log, 'log.db'))).toBe(false);
    const { out } = await rig.flipstream(['status', '--json']);
    expect(JSON.parse(out)).toMatchObject({ behind: 0, unpublished: 0 });
  });

  test('replay --from kafka and --from archive: every table has the rows of the live run, flips and metrics too', async () => {
    const { warehouse, root } = rig.config.home;
    const live = await contents(warehouse);
    for (const table of ['events', 'verdicts', 'sessions', 'flips', 'flip_metrics'] as const)
      expect(live.get(table), table).not.toEqual([]);
    for (const from of ['kafka', 'archive']) {
      const fresh = join(root, '..', `from-${from}`);
      expect(await rig.flipstream(['replay', fresh, '--from', from])).toMatchObject({ code: 0 });
      expect(await contents(layout(fresh).warehouse)).toEqual(live);
    }
  });
});

/** Everything that two runs of the same session share. */
async function asked(rig: Rig) {
  return {
    events: await rig.sql(
      `SELECT type, kind, tool_name, status, turn, count(*) AS n FROM events GROUP BY ALL ORDER BY ALL`,
    ),
    sessions: await rig.sql(
      'SELECT outcome, attempts, turns, messages, tool_calls, tool_errors, gaps, marks, usable FROM sessions',
    ),
    flips: await rig.sql(
      'SELECT task_id, attempt, runner, placement, evidence, revision, retracted FROM flips',
    ),
    verdicts: await rig.sql('SELECT mode, verdict, attempt FROM verdicts ORDER BY ALL'),
    metrics: await rig.sql(
      `SELECT * EXCLUDE (bucket, day, repo, _landed_at, _log_id, _partition, _offset) FROM flip_metrics ORDER BY ALL`,
    ),
    rates: await rig.sql('SELECT * FROM task_flip_rates'),
  };
}
