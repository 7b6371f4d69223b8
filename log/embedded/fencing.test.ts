import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { caughtUp, event, everything, until, upTo } from '../conformance/rig.ts';
import type { Reducer } from '../log.ts';
import { openCatalog } from './catalog.ts';
import { createMember } from './member.ts';
import { named } from './sqlite-errors.ts';
import { embeddedRig, mask } from './testing.ts';
import { createTransact } from './transact.ts';
import { createWake } from './wake.ts';

const LONGER_THAN_A_LEASE = 60_000;

/** One sealed output a record: the sealing hook is where a test can hold a reducer between reading and commit. */
const sealing: Reducer<{ n: number }> = {
  group: 'g',
  inputs: ['trace.raw'],
  outputs: ['trace.quarantine'],
  apply: (state, record) => {
    const n = (state?.n ?? 0) + 1;
    const value = {
      event_id: `${record.offset}`,
      session_id: record.key,
      ts: '2026-01-01T00:00:00.000Z',
      type: 'message',
      reason: `count ${n}`,
      rules: [],
      scanner: 's',
      content: Buffer.from('c'),
    };
    return { state: { n }, out: [{ topic: 'trace.quarantine', key: record.key, value }] };
  },
};

test('P4 a zombie reducer is fenced in its own commit: no output, no state, no offset of its', async () => {
  const rig = await embeddedRig();
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const zombie = await rig.open({
    seal: async (bytes) => {
      reached.resolve();
      await held.promise;
      return mask(bytes);
    },
  });
  await zombie.publish(upTo(5).map((n) => event('k', n)));
  zombie.run(sealing);
  await reached.promise;

  const heir = await rig.open();
  rig.advance(LONGER_THAN_A_LEASE);
  heir.run(sealing);
  await caughtUp(heir, 'g', 'trace.raw');
  await heir.publish([event('k', 6)]);
  await caughtUp(heir, 'g', 'trace.raw');
  held.resolve();
  await until(() => zombie.counters().transactionFailures > 0);

  await heir.publish([event('k', 7)]);
  await caughtUp(heir, 'g', 'trace.raw');
  const made = (await everything(heir, 'trace.quarantine')).map((one) => one.value.reason);
  expect(made).toEqual(upTo(7).map((n) => `count ${n}`));
  await rig.close();
});

test('P4 a zombie consumer cannot take the committed offset back', async () => {
  const rig = await embeddedRig();
  const zombie = await rig.open();
  const heir = await rig.open();
  await zombie.publish([event('k', 1)]);
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const options = { group: 'g', topics: ['trace.raw'] as const };
  zombie.consume({
    ...options,
    onBatch: async () => {
      reached.resolve();
      await held.promise;
    },
  });
  await reached.promise;
  rig.advance(LONGER_THAN_A_LEASE);
  heir.consume({ ...options, onBatch: async () => {} });
  await heir.publish([event('k', 2)]);
  await caughtUp(heir, 'g', 'trace.raw');
  held.resolve();
  await until(() => zombie.counters().transactionFailures > 0);
  expect((await heir.lag()).find((one) => one.end > 0)).toMatchObject({ committed: 2, end: 2 });
  await rig.close();
});

test('a clock that jumped back: a dead member whose lease lies far ahead is replaced by its silence', async () => {
  const rig = await embeddedRig();
  const log = await rig.open({ leaseMs: 150 });
  await log.publish([event('k', 1)]);
  const first = log.consume({ group: 'g', topics: ['trace.raw'], onBatch: async () => {} });
  await caughtUp(log, 'g', 'trace.raw');
  await first.stop();
  const db = new DatabaseSync(rig.path);
  db.exec(`
    INSERT INTO member SELECT id, 'gone', 'another host', 1, 9e15, 1 FROM grp WHERE name = 'g';
    UPDATE lease SET owner = 'gone', epoch = epoch + 1;`);
  db.close();
  await log.publish([event('k', 2)]);
  log.consume({ group: 'g', topics: ['trace.raw'], onBatch: async () => {} });
  await caughtUp(log, 'g', 'trace.raw');
  await rig.close();
});

test('P1 a file that fails for a while ends nobody who waits for a commit in it', async () => {
  const db = new DatabaseSync(':memory:');
  const wake = createWake(db);
  const seen = wake.now();
  db.close();
  // Whoever waits reads next, and meets the trouble where it is waited out.
  expect(wake.now()).toBeGreaterThan(seen);
});

test('P1 a full disk ends nobody who gives a partition up: it is held until it can be given', async () => {
  const rig = await embeddedRig();
  await rig.open();
  const db = new DatabaseSync(rig.path);
  const transact = createTransact(db, rig.path);
  db.exec(`INSERT INTO grp VALUES (7, 'g')`);
  const warned: string[] = [];
  let full = false;
  const member = createMember(
    {
      ...{ db, catalog: await openCatalog(db, transact), clock: Date.now, leaseMs: 10_000 },
      transact: (body) => (full ? Promise.reject(diskFull(rig.path)) : transact(body)),
      warn: (message) => warned.push(message),
    },
    'g',
    7,
  );
  await member.join(() => {});
  full = true;
  await member.release(0, member.owned.get(0) ?? -1);
  expect(warned).toEqual(['g: partition 0 could not be given up; trying again']);
  expect([...member.owned.keys()]).toEqual([1, 2, 3]);
  await until(() => member.owned.has(0));
  full = false;
  await member.leave();
  db.close();
  await rig.close();
});

function diskFull(path: string): unknown {
  return named(Object.assign(new Error('no space left'), { code: 'ENOSPC' }), path);
}
