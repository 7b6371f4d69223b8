import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { EmbeddedLog } from '../log/embedded/open.ts';
import { compact } from '../warehouse/compact.ts';
import { query } from '../warehouse/query.ts';
import { event, landAll, newPlace, openLog, type Place, session, verdict } from './sink/testing.ts';

const KILLS = 5;
const A_ROUND = 400;

async function child(place: Place, group: string): Promise<ChildProcess> {
  const script = new URL('./sink/kill-child.ts', import.meta.url).pathname;
  const started = spawn(process.execPath, [script, place.logDir, place.warehouse, group], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (started.stdout) await once(started.stdout, 'data');
  return started;
}

async function kill(victim: ChildProcess): Promise<void> {
  expect(victim.exitCode, 'a sink has ended by itself').toBeNull();
  const gone = once(victim, 'exit');
  victim.kill('SIGKILL');
  await gone;
}

/** The moment is drawn from what the sink has done, so that it falls into the middle of its work. */
async function publishRound(log: EmbeddedLog, round: number, victims: ChildProcess[]): Promise<void> {
  const after = Math.floor(Math.random() * A_ROUND);
  for (let i = 0; i < A_ROUND; i += 100) {
    await log.publish(Array.from({ length: 100 }, (_, n) => event(`s${n % 5}`, round * A_ROUND + i + n)));
    await log.publish([session(`s${i % 5}`, { events: round * A_ROUND + i }), verdict(`v${round}`, 's1')]);
    if (i <= after && after < i + 100) await Promise.all(victims.map(kill));
  }
}

test('P3 duplicates after a kill: two sinks, SIGKILL at random moments, every record once', async () => {
  const place = newPlace();
  const log = await openLog(place);
  for (let round = 0; round < KILLS; round++) {
    const victims = await Promise.all([child(place, 'one'), child(place, 'two')]);
    await publishRound(log, round, victims);
  }
  await landAll(log, place, { group: 'last' });
  await compact({ warehouse: place.warehouse, clock: Date.now, from: 2, memoryMiB: 256 });
  const ask = async (sql: string) => (await query(place.warehouse, sql, { memoryMiB: 256 })).rows;
  const all = KILLS * A_ROUND;
  expect(
    await ask('SELECT count(*), count(DISTINCT event_id), count(DISTINCT (_partition, _offset)) FROM events'),
  ).toEqual([[all, all, all]]);
  expect(await ask('SELECT count(*), count(DISTINCT verdict_id) FROM verdicts')).toEqual([[KILLS, KILLS]]);
  expect(await ask('SELECT count(*) FROM sessions')).toEqual([[1]]);
  expect(await ask("SELECT events FROM sessions WHERE session_id = 's0'")).toEqual([[all - 100]]);
  await log.close();
  place.remove();
});
