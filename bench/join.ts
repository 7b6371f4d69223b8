/**
 * State of the join: a million sessions (or as many as the first argument says) of five records each, one in
 * fifty graded, states frozen into a SQLite file as the log keeps them; then one session of 100,000 events.
 * Time must be linear and the heap flat. Run with --expose-gc.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { headerHash } from '../schemas/header.ts';
import { createJoin } from '../streams/join/join.ts';
import type { StreamRecord } from '../streams/record.ts';
import { createTestOracle } from '../streams/testing/oracle.ts';
import { eventRecord, recordsOf } from '../streams/testing/run.ts';
import { beginSession, gradedSession } from '../streams/testing/session.ts';

const sessions = Number(process.argv[2] ?? 1_000_000);
const LONG = 100_000;
const oracle = createTestOracle();
const reducer = createJoin({ keyRing: oracle.ring });
const MIB = 2 ** 20;

/** Milliseconds of processor time of this thread: other work on the machine does not count. */
const cpu = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

const heap = (): string => {
  globalThis.gc?.();
  return `heap ${(process.memoryUsage().heapUsed / MIB).toFixed(0)} MiB`;
};

const template = beginSession();
template.add({ type: 'message', role: 'user', turn: 1, text_redacted: 'do it' });
template.add({ type: 'tool_call', turn: 1, tool_name: 'Bash', status: 'ok', output_redacted: 'done' });
template.add({ type: 'message', role: 'assistant', turn: 1, text_redacted: 'done' });
template.end('ungraded');

/** Ungraded ones are one template under another id (their links are marked broken): making real ones would take longer than joining them. */
function recordsOfSession(n: number): StreamRecord[] {
  const session_id = `session-${n}`;
  if (n % 50 === 0) return recordsOf(gradedSession({ oracle, sessionId: session_id, answers: ['PASS'] }));
  return template.events.map((event) => eventRecord({ ...event, session_id }));
}

function manySessions(): void {
  const dir = mkdtempSync(join(tmpdir(), 'flipstream-bench-'));
  const db = new DatabaseSync(join(dir, 'states.db'));
  try {
    db.exec('PRAGMA synchronous = OFF; CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID');
    const write = db.prepare('INSERT INTO state VALUES (?, ?)');
    let bytes = 0;
    let records = 0;
    let flips = 0;
    let joining = 0;
    const step = Math.max(1, sessions / 4);
    db.exec('BEGIN');
    for (let n = 1; n <= sessions; n++) {
      const list = recordsOfSession(n);
      const start = cpu();
      let state: ReturnType<typeof reducer.apply>['state'] = null;
      for (const record of list) {
        const next = reducer.apply(state, record);
        state = next.state;
        flips += next.out.filter(({ topic, value }) => topic === 'flips' && value.revision > 0).length;
      }
      const frozen = JSON.stringify(state);
      joining += cpu() - start;
      write.run(`session-${n}`, frozen);
      bytes += frozen.length;
      records += list.length;
      if (n % 10_000 === 0) db.exec('COMMIT; BEGIN');
      if (n % step !== 0) continue;
      console.log(
        `${n} sessions, ${records} records: ${(joining / 1000).toFixed(1)} s in the join, ${((joining / records) * 1000).toFixed(0)} us a record, ${(bytes / n).toFixed(0)} bytes of state a session, ${flips} flips put out, ${heap()}`,
      );
    }
    db.exec('COMMIT');
  } finally {
    db.close();
    rmSync(dir, { recursive: true });
  }
}

function longSession(): void {
  let [event] = template.events;
  let state: ReturnType<typeof reducer.apply>['state'] = null;
  let joining = 0;
  for (let n = 1; n <= LONG && event; n++) {
    const start = cpu();
    state = reducer.apply(state, eventRecord(event)).state;
    joining += cpu() - start;
    event = { ...event, type: 'tool_call', seq: n, prev: headerHash(event) };
    if (n % (LONG / 4) === 0)
      console.log(
        `one session, ${n} events: ${(joining / 1000).toFixed(2)} s, ${((joining / n) * 1000).toFixed(0)} us an event, ${JSON.stringify(state).length} bytes of state, ${heap()}`,
      );
  }
}

manySessions();
longSession();
