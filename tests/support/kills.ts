/** Kills the parts of a running pipeline at random moments under load, and says what the warehouse holds afterwards. */
import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { createHarness, type Step } from '../../cli/demo/harness.ts';
import { firstAttempt, secondAttempt } from '../../cli/demo/script.ts';
import { verdictsOf } from '../../oracle/keys/chain.ts';
import { openOracle } from '../../oracle/oracle.ts';
import { readSettings } from '../../producers/settings.ts';
import type { TraceEvent } from '../../schemas/generated.ts';
import { headerHash } from '../../schemas/header.ts';
import { createLoad, EVENTS_A_TURN, type LoadSession } from './load.ts';
import { type Rig, type Row, startRig } from './rig.ts';

export interface KillPlan {
  events: number;
  kills: number;
  /** Sessions that are graded meanwhile. */
  graded: number;
  /** Longest pause before a kill, milliseconds. */
  pauseMs: number;
}

/** Runs the plan and asserts: each event exactly once, chains unbroken, flips as the oracle's own record has them. */
export async function survivesKills({ events, kills, graded, pauseMs }: KillPlan): Promise<void> {
  const rig = await startRig();
  try {
    const load = createLoad(rig.config.home);
    const sessions = Array.from({ length: 20 }, () => load.session());
    const clones = await Promise.all(Array.from({ length: graded }, (_, n) => rig.clone(`graded-${n}`)));
    const grading = Promise.all(clones.map((clone) => gradedSession(rig, clone)));
    const turns = Math.ceil(events / EVENTS_A_TURN / kills);
    const killed = new Map<string, number>();
    for (let round = 0; round < kills; round++) {
      for (let turn = 0; turn < turns; turn++) sessions[(round * turns + turn) % sessions.length]?.turn();
      await pause(Math.random() * pauseMs);
      while (Object.keys(rig.supervisor.pids()).length === 0) await pause(20);
      const [name, pid] = pick(Object.entries(rig.supervisor.pids()));
      killed.set(name, (killed.get(name) ?? 0) + 1);
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // it died on its own in between; it is started again like the others
      }
    }
    const gradedOnes = await grading;
    await answers(rig);
    // Of those before, the kills may have let none come to its PASS.
    gradedOnes.push(await gradedSession(rig, await rig.clone('graded-last')));
    await drained(rig);
    await check(rig, sessions, gradedOnes);
    expect([...killed.values()].reduce((sum, count) => sum + count, 0)).toBe(kills);
  } finally {
    await rig.close();
  }
}

/** What a graded session's hooks were told of, however often. */
interface Graded {
  id: string;
  says: number;
  calls: number;
}

/** A session of the demo's agent, which keeps trying while the parts die under it. */
async function gradedSession(rig: Rig, clone: string): Promise<Graded> {
  const harness = createHarness(rig.config.home, clone, rig.env);
  const told: Graded = { id: harness.sessionId, says: 0, calls: 0 };
  const step = async (one: Step) => {
    await harness.step(one);
    told.says++;
    told.calls += one.calls.length;
  };
  await harness.start('scripted-model');
  await harness.prompt('Fix splitBill.');
  for (const one of [...firstAttempt(clone), ...secondAttempt(clone)]) await step(one);
  for (let tries = 0; tries < 6; tries++) {
    const held = await harness.stop('It is right now.');
    told.says++;
    if (held === null) break;
    await step({
      says: 'I look again.',
      calls: [{ name: 'Bash', input: { command: 'git status --short' } }],
    });
  }
  await harness.end();
  return told;
}

async function check(rig: Rig, sessions: LoadSession[], graded: Graded[]): Promise<void> {
  const gradedIds = graded.map(({ id }) => id);
  const expected = sessions.reduce((sum, session) => sum + session.events(), 0);
  const ids = sessions.map(({ id }) => `'${id}'`).join(', ');
  const totals = async () => {
    const [row] = await rig.sql(
      `SELECT count(*) AS rows, count(DISTINCT event_id) AS ids FROM events WHERE session_id IN (${ids})`,
    );
    return row;
  };
  await expect
    .poll(async () => Number((await totals())?.rows), { timeout: 120_000, interval: 2000 })
    .toBeGreaterThanOrEqual(expected);
  // Kinds of which there are more or fewer than one a turn: none, and if there are, which.
  const turns = expected / EVENTS_A_TURN;
  expect(
    await rig.sql(
      `SELECT type, kind, harness_event, status, synthetic, count(*) AS n, any_value(session_id) AS session_id
       FROM events WHERE session_id IN (${ids}) GROUP BY ALL HAVING n <> ${turns}`,
    ),
  ).toEqual([]);
  expect(await totals()).toEqual({ rows: expected, ids: expected });
  const known = [...sessions.map(({ id }) => id), ...gradedIds].map((id) => `'${id}'`).join(', ');
  expect(
    await rig.sql(`SELECT session_id, type, kind FROM events WHERE session_id NOT IN (${known})`),
  ).toEqual([]);
  const chains = Map.groupBy(await rig.sql('SELECT * FROM events ORDER BY seq'), (row) => row.session_id);
  for (const id of [...sessions.map((session) => session.id), ...gradedIds]) unbroken(id, chains.get(id));
  for (const { id, says, calls } of graded)
    expect(
      await rig.sql(
        `SELECT count(*) FILTER (type = 'session_start')::INT AS starts, count(*) FILTER (type = 'session_end')::INT AS ends,
                count(*) FILTER (harness_event = 'UserPromptSubmit')::INT AS prompts,
                count(*) FILTER (harness_event = 'MessageDisplay')::INT AS says,
                count(DISTINCT tool_use_id)::INT AS calls
         FROM events WHERE session_id = '${id}'`,
      ),
      id,
    ).toEqual([{ starts: 1, ends: 1, prompts: 1, says, calls }]);
  await flipsAreRight(rig);
  // All parts have ended: nothing came late.
  expect(await totals()).toEqual({ rows: expected, ids: expected });
}

/** Each event once, each naming the one before it. */
export function unbroken(sessionId: string, chain: Row[] = []): void {
  expect(new Set(chain.map((row) => row.event_id)).size, sessionId).toBe(chain.length);
  let prev: string | null = null;
  for (const [at, row] of chain.entries()) {
    expect({ seq: row.seq, prev: row.prev }, `event ${at} of ${sessionId}`).toEqual({ seq: at, prev });
    prev = headerHash(row as Partial<TraceEvent>);
  }
}

/** The oracle's own record says which sessions passed, and some did; a session flipped exactly when it did. */
async function flipsAreRight(rig: Rig): Promise<void> {
  await rig.supervisor.stop();
  const oracle = openOracle({ home: rig.config.oracleHome });
  const passed = new Set<string>();
  try {
    for (const { session_id, verdict } of verdictsOf(oracle.db, oracle.key.key_id)) {
      if (session_id !== null && verdict === 'PASS') passed.add(session_id);
    }
  } finally {
    oracle.close();
  }
  expect(passed.size, 'graded sessions that passed').toBeGreaterThan(0);
  const flips = await rig.sql('SELECT session_id FROM flips WHERE retracted IS NULL');
  expect(flips.map((row) => row.session_id).sort()).toEqual([...passed].sort());
}

/** Resolves once the oracle is there again. */
async function answers(rig: Rig): Promise<void> {
  const url = readSettings(rig.config.home).oracle?.url ?? '';
  const there = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  await expect.poll(there, { timeout: 120_000, interval: 250 }).toBe(true);
}

/** Resolves once the collector has published all that was captured. */
async function drained(rig: Rig): Promise<void> {
  await expect
    .poll(() => post(rig.config.home.collectorSocket, '/drain', { deadline_ms: 60_000 }), {
      timeout: 120_000,
      interval: 250,
    })
    .toBe(200);
}

function post(socketPath: string, path: string, body: object): Promise<number> {
  return new Promise((resolve) => {
    const outgoing = request(
      { socketPath, path, method: 'POST', headers: { 'content-type': 'application/json' } },
      (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    outgoing.on('error', () => resolve(0));
    outgoing.end(JSON.stringify(body));
  });
}

function pick<T>(items: readonly T[]): T {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error('nothing runs');
  return item;
}
