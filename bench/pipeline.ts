/**
 * The whole of `flipstream up` as processes, everything on: from a payload's capture to its row in an SQL answer,
 * one event at a time, then a load put into the spool at once. `node bench/pipeline.ts [events of the load]`
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createLoad, EVENTS_A_TURN } from '../tests/support/load.ts';
import { startRig } from '../tests/support/rig.ts';
import { openReader } from '../warehouse/query.ts';
import { percentiles } from './support/percentiles.ts';

const EVENTS = Number(process.argv[2] ?? 20_000);
const TURNS = 60;
const SESSIONS = 20;

const rig = await startRig();
const reader = await openReader(rig.config.home.warehouse);
const load = createLoad(rig.config.home);

async function landed(ids: readonly string[], events: number): Promise<void> {
  const list = ids.map((id) => `'${id}'`).join(', ');
  for (;;) {
    const { rows } = await reader.query(`SELECT count(*) FROM events WHERE session_id IN (${list})`);
    if (Number(rows[0]?.[0] ?? 0) >= events) return;
    await pause(5);
  }
}

const one = load.session();
const took: number[] = [];
for (let turn = 1; turn <= TURNS; turn++) {
  // Any place of the flush interval.
  await pause(Math.random() * 400);
  const from = performance.now();
  one.turn();
  await landed([one.id], turn * EVENTS_A_TURN);
  took.push(performance.now() - from);
}
console.log(`captured to visible in SQL: ${percentiles(took)} (${TURNS} turns of ${EVENTS_A_TURN} events)`);

const sessions = Array.from({ length: SESSIONS }, () => load.session());
const from = performance.now();
for (let turn = 0; turn < EVENTS / EVENTS_A_TURN; turn++) sessions[turn % SESSIONS]?.turn();
const captured = performance.now();
await landed(
  sessions.map(({ id }) => id),
  EVENTS,
);
const seconds = (since: number) => (performance.now() - since) / 1000;
console.log(
  `capture to warehouse: ${EVENTS} events in ${seconds(from).toFixed(1)} s, ${Math.round(EVENTS / seconds(from))} a second (capturing them took ${((captured - from) / 1000).toFixed(1)} s of it)`,
);
reader.close();
await rig.close();
