import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbeddedLog } from '../log/embedded/open.ts';
import type { Outgoing } from '../log/log.ts';
import { jsonReader } from '../schemas/from-json.ts';
import { followFlips } from './follow-flips.ts';

test('a flip is told once however often its session is looked at again, and once more when it is taken back', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'flipstream-follow-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const log = await openEmbeddedLog({ dir, partitions: 1, maintainEveryMs: null });
  onTestFinished(() => log.close());
  const flip = (session_id: string, revision: number, retracted: string | null = null): Outgoing => ({
    topic: 'flips',
    key: session_id,
    value: jsonReader('Flip')({
      ...{ session_id, revision, retracted, task_id: 't', attempt: 1, chain_id: 'c', head: 'h' },
      ...{ base_commit: 'b', tests_hash: 't', runner: 'process', placement: 'same_host' },
      ...{ evidence: 'in_process', baseline: '{}', verdict: '{}', flipped_at: '' },
    }),
  });
  await log.publish([flip('before', 1)]);
  const stop = new AbortController();
  const flips = followFlips(log, stop.signal);
  const first = flips.next();
  // Asked first: where the topic ends is looked up at once, in this process.
  await new Promise((resolve) => setImmediate(resolve));
  await log.publish([
    flip('a', 1),
    flip('a', 2),
    flip('b', 1),
    flip('a', 3, 'revoked'),
    flip('a', 4, 'revoked'),
  ]);
  const told = [await first, await flips.next(), await flips.next()].map(({ value }) => value);
  expect(told.map((one) => one && [one.session_id, one.revision, one.retracted])).toEqual([
    ['a', 1, null],
    ['b', 1, null],
    ['a', 3, 'revoked'],
  ]);
  stop.abort();
  expect(await flips.next()).toMatchObject({ done: true });
});
