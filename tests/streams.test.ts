/** redact, join and metrics together on the embedded log, as `flipstream up` runs them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openEmbeddedLog } from '../log/embedded/open.ts';
import type { Log, Running } from '../log/log.ts';
import type { RecordOf } from '../schemas/records.ts';
import type { TopicName } from '../schemas/topics.ts';
import { createJoin } from '../streams/join/join.ts';
import { createBucketMetrics } from '../streams/metrics/bucket.ts';
import { createSessionMetrics } from '../streams/metrics/session.ts';
import { createRedact } from '../streams/redact/redact.ts';
import { createTestOracle } from '../streams/testing/oracle.ts';
import { TOKENS } from '../streams/testing/secrets.ts';
import { beginSession, gradedSession, type TestSession } from '../streams/testing/session.ts';

const oracle = createTestOracle();
let dir = '';
let log: Log;
let running: Running[] = [];

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'flipstream-test-'));
  log = await openEmbeddedLog({ dir, partitions: 2, seal: async (bytes) => Buffer.from(bytes).reverse() });
});

afterEach(async () => {
  await Promise.all(running.map((task) => task.stop()));
  running = [];
  await log.close();
  rmSync(dir, { recursive: true });
});

function start(options: { module?: URL; deadlineMs?: number } = {}): void {
  running = [
    log.run(createRedact(options)),
    log.run(createJoin({ keyRing: oracle.ring })),
    log.run(createSessionMetrics()),
    log.run(createBucketMetrics()),
  ];
}

async function all<T extends TopicName>(topic: T): Promise<{ key: string; value: RecordOf<T> }[]> {
  const records = [];
  for (let partition = 0; partition < (await log.partitions(topic)); partition++)
    records.push(...(await log.read(topic, partition, 0, 10_000)).records);
  return records;
}

async function lastOf<T extends TopicName>(topic: T): Promise<Map<string, RecordOf<T>>> {
  return new Map((await all(topic)).map(({ key, value }) => [key, value]));
}

async function publish(...sessions: TestSession[]): Promise<void> {
  for (const { sessionId, events, verdicts } of sessions) {
    await log.publish(events.map((value) => ({ topic: 'trace.raw' as const, key: sessionId, value })));
    await log.publish(
      verdicts.map((value) => ({ topic: 'oracle.verdicts' as const, key: sessionId, value })),
    );
  }
}

const settled = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 20_000, interval: 50 });

test('sessions published twice: each event once, each flip right, the metrics as recounted', async () => {
  const sessions = [
    gradedSession({ oracle, sessionId: 's-1' }),
    gradedSession({ oracle, sessionId: 's-2', answers: ['FAIL'] }),
    gradedSession({ oracle, sessionId: 's-3', answers: ['ERROR', 'PASS'] }),
  ];
  await publish(...sessions);
  start();
  await publish(...sessions);
  const count = sessions.reduce((sum, { events }) => sum + events.length, 0);
  await settled(async () => {
    // Buckets that every session has left (their family was not known yet) stay, with zeros.
    const metrics = [...(await lastOf('flip.metrics')).values()].filter((metric) => metric.sessions !== 0);
    expect(metrics).toMatchObject([
      {
        sessions: 3,
        graded: 3,
        flipped: 2,
        no_flip: 1,
        attempts: 4,
        oracle_errors: 1,
        task_family: 'parsers',
      },
    ]);
    expect((await log.lag()).every(({ committed, end }) => committed === end)).toBe(true);
  });
  const events = await all('trace.events');
  expect(new Set(events.map(({ value }) => value.event_id)).size).toBe(count);
  expect(events).toHaveLength(count);
  const flips = await lastOf('flips');
  expect([...flips.keys()].sort()).toEqual(['s-1:task-1', 's-3:task-1']);
  expect((await lastOf('sessions')).get('s-2')).toMatchObject({ outcome: 'no_flip', usable: true });
  expect(await all('deadletter')).toEqual([]);
});

test('a known secret and a doubtful one: neither is in trace.events, the doubtful one is sealed in quarantine', async () => {
  const secret = TOKENS['github-token'] ?? '';
  const doubtful = `api_key = "${secret.slice(4)}"`;
  const session = beginSession();
  session.add({ type: 'message', text_redacted: `use ${secret}` });
  session.add({ type: 'message', text_redacted: doubtful });
  start();
  await publish(session);
  await settled(async () => expect(await all('trace.events')).toHaveLength(3));
  const events = await all('trace.events');
  expect(JSON.stringify(events)).not.toContain(secret.slice(4));
  expect(events.map(({ value }) => value.text_redacted)).toEqual([null, 'use [REDACTED:github-token]', null]);
  const [held] = await all('trace.quarantine');
  expect(held?.value).toMatchObject({ reason: 'hit', rules: ['assigned-secret'] });
  expect(Buffer.from(held?.value.content ?? []).toString()).not.toContain(doubtful);
  await settled(async () => {
    expect((await lastOf('sessions')).get('session-1')).toMatchObject({
      withheld: 1,
      redacted: 1,
      marks: ['withheld'],
    });
  });
});

test('R5 a scanner that hangs on one event: that one is quarantined as timeout, the others pass', async () => {
  const source = `export const prepare = async (records) => {
    if (records.some(({ value }) => value.text_redacted === 'hang')) for (;;);
    return records.map(() => ({ found: 'nothing' }));
  };`;
  const session = beginSession();
  session.add({ type: 'message', text_redacted: 'fine' });
  session.add({ type: 'message', text_redacted: 'hang' });
  start({ module: new URL(`data:text/javascript,${encodeURIComponent(source)}`), deadlineMs: 300 });
  await publish(session);
  await settled(async () => expect(await all('trace.events')).toHaveLength(3));
  const events = await all('trace.events');
  expect(events.map(({ value }) => value.withheld)).toEqual([null, null, 'quarantined']);
  expect((await all('trace.quarantine')).map(({ value }) => value.reason)).toEqual(['timeout']);
});
