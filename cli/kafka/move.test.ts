import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbeddedLog } from '../../log/embedded/open.ts';
import type { Carrier } from '../../log/kafka/carry.ts';
import { SESSION, sampleSession } from '../verify/testing.ts';
import { moveLog } from './move.ts';

test('a move that is stopped ends between two batches and lets go of the cluster', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'flipstream-move-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const log = await openEmbeddedLog({ dir, partitions: 1, maintainEveryMs: null });
  onTestFinished(() => log.close());
  const { events, verdicts } = sampleSession();
  await log.publish([
    ...events.map((value) => ({ topic: 'trace.events', key: SESSION, value }) as const),
    ...verdicts.map((value) => ({ topic: 'oracle.verdicts', key: SESSION, value }) as const),
  ]);
  const stop = new AbortController();
  const did: string[] = [];
  const carrier: Carrier = {
    carryStates: async () => {},
    next: async () => 0,
    carry: async (topic) => {
      did.push(topic);
      stop.abort();
    },
    close: async () => void did.push('close'),
  };
  const moved = moveLog({ from: log, open: async () => carrier, progress: () => {}, signal: stop.signal });
  await expect(moved).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  expect(did).toEqual(['oracle.verdicts', 'close']);
});
