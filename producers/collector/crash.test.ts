import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TraceEvent } from '../../schemas/generated.ts';
import { sha256 } from '../../schemas/hash.ts';
import { headerHash } from '../../schemas/header.ts';
import type { SpoolEntry } from '../draft.ts';
import type { Home } from '../home.ts';
import type { CommitDeps } from './commit.ts';
import { openDb } from './db.ts';
import { createIngest } from './ingest.ts';
import { createOutbox } from './outbox.ts';
import { createPublisher } from './publish.ts';
import { openSpool } from './spool-files.ts';
import { createStore } from './store.ts';
import { entry, memoryLog, spool, T0, temporaryHome, told } from './testing.ts';
import { openTraceFiles, traceFile } from './trace-files.ts';

/** Not the entry's fault. */
class Killed extends Error {
  readonly syscall = 'kill';
}

/** Ends the process, as it were, at the n-th of its steps; before or after the step was done. */
function killAt(step: number) {
  let count = 0;
  const point = () => {
    count += 1;
    if (count > step) throw new Killed();
  };
  return { point, dead: () => count > step };
}

/** One life of a collector over a home: it works until all is done, or until it is killed. */
async function live(home: Home, log: ReturnType<typeof memoryLog>, step: number): Promise<boolean> {
  const { point, dead } = killAt(step);
  const db = openDb(home.collectorDb);
  try {
    const store = createStore(db);
    const outbox = createOutbox(db);
    const files = openSpool(home);
    const traces = openTraceFiles(home);
    const commit: CommitDeps = {
      ...{ store, outbox, capture: 'same_user', clock: () => T0, limit: 65_536 },
      identity: { home_id: 'home', host_id: 'host' },
      keyedHash: sha256,
      redact: (text) => ({ text, hits: 0 }),
    };
    const spoolFiles: typeof files = {
      ...files,
      read: (name) => {
        point();
        return files.read(name);
      },
      remove: (names) => {
        point();
        files.remove(names.slice(0, 1));
        point();
        files.remove(names);
        point();
      },
    };
    const warn = () => {};
    const ingest = createIngest({ ...commit, spool: spoolFiles, batch: 3, warn, deafUntil: null });
    const publisher = createPublisher({
      ...{ store, outbox, spool: spoolFiles, ingest, warn },
      traces: {
        append: async (...args) => {
          point();
          const missing = await traces.append(...args);
          point();
          return missing;
        },
      },
      log: {
        publish: async (records) => {
          point();
          await log.publish(records.slice(0, 1));
          point();
          await log.publish(records);
          point();
        },
      },
    });
    await ingest.all();
    point();
    while (await publisher.round()) point();
    return true;
  } catch (error) {
    if (!dead()) throw error;
    return false;
  } finally {
    db.close();
  }
}

const SESSION: SpoolEntry[] = [
  entry(told.start({})),
  entry(told.prompt('one')),
  entry(told.piece('m1', 1, ' world', true)),
  entry(told.piece('m1', 0, 'hello')),
  entry(told.callStarted('t1')),
  entry(told.callEnded('t1')),
  entry(told.batch('t1')),
  entry(told.notice('same'), { payload: 'same' }),
  entry(told.notice('same'), { payload: 'same' }),
  entry(told.prompt('other'), { session_id: 's2' }),
  entry(told.callStarted('t2')),
  entry(told.prompt('two')),
  entry(told.stop('bye')),
  entry(told.end()),
];

/** What an event says, without the salt and what follows from it. */
const essence = ({ event_id, seq, type, kind, turn, text_redacted, session_id, status }: TraceEvent) =>
  JSON.stringify({ event_id, seq, type, kind, turn, text_redacted, session_id, status });

async function lives(steps: readonly number[]): Promise<string[]> {
  const { home, remove } = temporaryHome();
  const log = memoryLog();
  try {
    spool(home, ...SESSION);
    for (const step of steps) await live(home, log, step);
    for (let more = 0; !(await live(home, log, 1_000)); more++) expect(more).toBeLessThan(100);
    expect(readdirSync(join(home.spool, 'new'))).toEqual([]);
    return ['s1', 's2'].flatMap((session) => checked(home, log.events, session));
  } finally {
    remove();
  }
}

/** Published events once each, against the trace file and the chain. */
function checked(home: Home, published: TraceEvent[], session: string): string[] {
  const bySeq = new Map<number, TraceEvent>();
  for (const event of published.filter((one) => one.session_id === session)) {
    const before = bySeq.get(event.seq);
    if (before) expect(event).toEqual(before);
    bySeq.set(event.seq, event);
  }
  const events = [...bySeq.values()].sort((a, b) => a.seq - b.seq);
  events.forEach((event, index) => {
    const before = events[index - 1];
    expect([event.seq, event.prev]).toEqual([index, before ? headerHash(before) : null]);
  });
  const lines = readFileSync(traceFile(home, session), 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).event_id)).toEqual(events.map((event) => event.event_id));
  return events.map(essence);
}

test('P3 duplicates after a restart: killed at any one step, every event is there once and the same', async () => {
  const whole = await lives([]);
  expect(whole).toHaveLength(14);
  for (let step = 0; step < 45; step++) expect(await lives([step])).toEqual(whole);
});

test('P3 duplicates after a restart: killed again and again', async () => {
  const whole = await lives([]);
  const property = fc.asyncProperty(fc.array(fc.nat(40), { maxLength: 6 }), async (steps) => {
    expect(await lives(steps)).toEqual(whole);
  });
  await fc.assert(property, { numRuns: 10 });
});
