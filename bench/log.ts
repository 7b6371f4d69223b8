/** The embedded log: publishing, reading and decoding, latency, and a reducer, with events of about 1.5 KB. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedLog } from '../log/embedded/open.ts';
import type { Outgoing, Reducer } from '../log/log.ts';
import { blankEvent } from '../schemas/testing.ts';

const EVENTS = 100_000;
const WORDS =
  'export function const return await patch tree hunk test error line file the of a to import from => {} () ; = if else for expect src lib index value type string number'.split(
    ' ',
  );

/** About 1.2 KB that compress as source text and prose do, to a third or a quarter. */
function prose(): string {
  return Array.from(randomBytes(240), (pick) => WORDS[pick % WORDS.length]).join(' ');
}

function event(n: number, session: string): Outgoing<'trace.raw'> {
  const text = `${n} ${prose()}`;
  const value = { ...blankEvent(), event_id: randomBytes(32).toString('hex'), session_id: session, seq: n };
  return { topic: 'trace.raw', key: session, value: { ...value, text_redacted: text, harness: 'bench' } };
}

const events = Array.from({ length: EVENTS }, (_, n) => event(n, `session-${n % 40}`));
const second = (count: number, from: number) => Math.round((count / (performance.now() - from)) * 1000);
const at = (sorted: number[], q: number) => sorted[Math.floor((sorted.length - 1) * q)]?.toFixed(1);

async function publishing(batch: number, count: number, dir: string): Promise<void> {
  const log = await openEmbeddedLog({ dir });
  const from = performance.now();
  for (let n = 0; n < count; n += batch) await log.publish(events.slice(n, n + batch));
  console.log(`publish, durable, ${batch} a call: ${second(count, from)} events/s`);
  await log.close();
}

async function concurrent(count: number, dir: string): Promise<void> {
  const log = await openEmbeddedLog({ dir });
  const from = performance.now();
  for (let n = 0; n < count; n += 64)
    await Promise.all(events.slice(n, n + 64).map((one) => log.publish([one])));
  console.log(`publish, durable, 1 a call, 64 callers at once: ${second(count, from)} events/s`);
  await log.close();
}

async function consuming(what: string, count: number, dir: string): Promise<void> {
  const log = await openEmbeddedLog({ dir });
  let seen = 0;
  const from = performance.now();
  await new Promise<void>((resolve) => {
    log.consume({
      group: `bench ${what}`,
      topics: ['trace.raw'],
      onBatch: async ({ records }) => {
        seen += records.length;
        if (seen >= count) resolve();
      },
    });
  });
  console.log(`consume and decode, ${what}: ${second(count, from)} events/s`);
  await log.close();
}

async function latency(dir: string): Promise<void> {
  const [writer, reader] = [await openEmbeddedLog({ dir }), await openEmbeddedLog({ dir })];
  for (const pause of [5, 250]) {
    const took: number[] = [];
    let sentAt = 0;
    let arrived = () => {};
    const running = reader.consume({
      group: `latency ${pause}`,
      topics: ['tasks', 'trace.events'],
      onBatch: async () => {
        // The new group first reads what the last one left.
        if (sentAt > 0) took.push(performance.now() - sentAt);
        arrived();
      },
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (let n = 0; n < (pause > 100 ? 40 : 300); n++) {
      const got = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const { key, value } = event(n, `s${n % 9}`);
      sentAt = performance.now();
      await writer.publish([{ topic: 'trace.events', key, value }]);
      await got;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    took.sort((a, b) => a - b);
    console.log(
      `publish to consumer, another connection, one every ${pause} ms: p50 ${at(took, 0.5)} ms, p99 ${at(took, 0.99)} ms`,
    );
    await running.stop();
  }
  await Promise.all([writer.close(), reader.close()]);
}

async function reducing(count: number, dir: string): Promise<void> {
  const log = await openEmbeddedLog({ dir });
  const reducer: Reducer<{ n: number }> = {
    group: 'bench reducer',
    inputs: ['trace.raw'],
    outputs: ['trace.events'],
    apply: (state, { key, value }) => {
      const n = (state?.n ?? 0) + 1;
      if (n + 1 >= 0 && 'event_id' in value && 'chain_id' in value && 'text_redacted' in value) {
        return { state: { n }, out: [{ topic: 'trace.events', key, value }] };
      }
      return { state: { n }, out: [] };
    },
  };
  const from = performance.now();
  const running = log.run(reducer);
  while ((log.counters().consumed['trace.raw'] ?? 0) < count)
    await new Promise((resolve) => setTimeout(resolve, 5));
  console.log(`reduce, one output an event, exactly once: ${second(count, from)} events/s`);
  await running.stop();
  await log.close();
}

async function within(work: (dir: string) => Promise<void>): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'flipstream-bench-log-'));
  try {
    await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

await within((dir) => publishing(1, 5_000, dir));
await within((dir) => concurrent(20_000, dir));
await within(async (dir) => {
  await publishing(1000, EVENTS, dir);
  const bytes = statSync(join(dir, 'log.db')).size / EVENTS;
  console.log(`bytes an event on disk: ${Math.round(bytes)}`);
  await consuming('published 1000 a call', EVENTS, dir);
  await reducing(EVENTS, dir);
});
await within(async (dir) => {
  await publishing(1, 20_000, dir);
  await consuming('published singly', 20_000, dir);
  const log = await openEmbeddedLog({ dir });
  const from = performance.now();
  const { merged } = await log.maintain();
  console.log(`merging: ${merged} blocks in ${Math.round(performance.now() - from)} ms`);
  await log.close();
  await consuming('published singly, merged', 20_000, dir);
});
await within(latency);
