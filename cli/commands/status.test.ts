import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { openEmbeddedLog } from '../../log/embedded/open.ts';
import { startCollector } from '../../producers/collector/collector.ts';
import { memoryLog } from '../../producers/collector/testing.ts';
import { type Home, layout } from '../../producers/home.ts';
import { putEntry } from '../../producers/spool/put.ts';
import { blankEvent } from '../../schemas/testing.ts';
import { type Sandbox, sandbox } from '../testing.ts';
import { landSample } from '../testing-warehouse.ts';

const Status = z.looseObject({
  groups: z.array(
    z.looseObject({ group: z.string(), topic: z.string(), records: z.number(), behind: z.number() }),
  ),
});

let box: Sandbox;
let home: Home;
beforeAll(async () => {
  box = sandbox();
  home = layout(join(box.root, 'home'));
  await landSample(home);
});
afterAll(() => box.remove());

const status = async () => Status.parse((await box.flipstream(['status', '--json'])).json());
/** Those that are behind at all. */
const behind = async () =>
  (await status()).groups.filter((one) => one.behind > 0).map((one) => [one.group, one.topic, one.behind]);

test('when all has been read nobody is behind; of what comes then, everybody who reads it, by as much', async () => {
  expect(await status()).toMatchObject({ collector: 'stopped', spool: 0, behind: 0 });
  expect(await behind()).toEqual([]);
  const log = await openEmbeddedLog({ dir: home.log, maintainEveryMs: null });
  const more = [1, 2, 3].map((n) => ({ ...blankEvent(), event_id: `more ${n}`, session_id: 'more' }));
  await log.publish(more.map((value) => ({ topic: 'trace.events', key: 'more', value })));
  await log.close();
  expect(await status()).toMatchObject({ behind: 6 });
  expect((await behind()).sort()).toEqual([
    ['join', 'trace.events', 3],
    ['sink', 'trace.events', 3],
  ]);
  expect((await status()).groups).toContainEqual(
    expect.objectContaining({ group: 'join', topic: 'trace.events', records: 12 }),
  );
  expect((await box.flipstream(['status'])).out).toMatch(/^join +trace\.events +12 +3$/m);
});

test('what waits in the spool is counted, and a collector that runs is told of', async () => {
  const entry = {
    ...{ v: 1 as const, ts: '2026-01-01T00:00:00.000Z', session_id: 's', agent_id: null },
    ...{ harness: 'h', harness_event: 'e', registration: 'settings', transport: 'command' as const },
    drafts: [],
  };
  for (const payload_hash of ['1', '2']) putEntry(home, { ...entry, payload_hash }, 1);
  expect(await status()).toMatchObject({ collector: 'stopped', spool: 2 });
  const collector = await startCollector({
    ...{ home, log: memoryLog(), clock: Date.now, settings: { v: 1 as const }, warn: () => {} },
  });
  try {
    expect(await status()).toMatchObject({ collector: 'running' });
    expect((await box.flipstream(['status'])).out).toMatch(/^collector {2}running, /m);
  } finally {
    await collector.stop();
  }
});
