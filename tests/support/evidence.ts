/** What must hold of every session, whoever captured it: one unbroken chain, the same in trace file, warehouse and bundle. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { z } from 'zod';
import { traceFile } from '../../producers/collector/trace-files.ts';
import { jsonReader } from '../../schemas/from-json.ts';
import type { TraceEvent } from '../../schemas/generated.ts';
import { headerHash } from '../../schemas/header.ts';
import type { Rig } from './rig.ts';

const readEvent = jsonReader('TraceEvent');
const Told = z.looseObject({ state: z.string() });
export const VerifyReport = z.looseObject({
  state: z.string(),
  flip: z.boolean(),
  outcome: z.string().nullable(),
  problems: z.array(z.unknown()),
});

/** Events of a session in the order of their chain. */
export async function eventsOf(rig: Rig, sessionId: string): Promise<TraceEvent[]> {
  const rows = await rig.sql(`SELECT * FROM events WHERE session_id = '${sessionId}' ORDER BY seq`);
  return rows.map(readEvent);
}

/** Long on a machine that does much else. */
const PATIENCE = { timeout: 60_000, interval: 100 };

/** Waits until the session's row says that it has ended and all its events are there, and gives the row. */
export async function landed(rig: Rig, sessionId: string, outcome: string): Promise<Record<string, unknown>> {
  // not expect.poll: that knows of one test at a time, and some of these run at once
  return vi.waitFor(async () => {
    const rows = await rig.sql(`SELECT * FROM sessions WHERE session_id = '${sessionId}'`);
    expect(rows).toMatchObject([{ ended: true, outcome }]);
    const [row = {}] = rows;
    expect(await eventsOf(rig, sessionId)).toHaveLength(Number(row.events));
    return row;
  }, PATIENCE);
}

/** One chain: numbered without a gap, each event naming the one before it; the trace file holds the very same events. */
export async function expectChain(rig: Rig, sessionId: string): Promise<TraceEvent[]> {
  const events = await eventsOf(rig, sessionId);
  let prev: string | null = null;
  for (const [at, event] of events.entries()) {
    expect({ seq: event.seq, prev: event.prev }, `event ${at}`).toEqual({ seq: at, prev });
    prev = headerHash(event);
  }
  const lines = readFileSync(traceFile(rig.config.home, sessionId), 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => readEvent(JSON.parse(line)))).toEqual(events);
  return events;
}

/** What `flipstream verify` says of the bundle that `session export` writes. */
export async function verified(rig: Rig, sessionId: string): Promise<z.infer<typeof VerifyReport>> {
  const out = join(rig.place.root, `bundle-${sessionId}.jsonl`);
  const exported = await rig.flipstream(['session', 'export', sessionId, '--out', out, '--json']);
  expect(Told.safeParse(exported.json()).success, exported.err).toBe(true);
  const { json } = await rig.flipstream(['verify', out, '--key-ring', rig.config.home.keyRing, '--json']);
  return VerifyReport.parse(json());
}

/** `events` as one line each, for assertions on order: type, kind or role, tool, status, verdict. */
export function outline(events: readonly TraceEvent[]): string[] {
  return events.map(({ type, kind, role, tool_name, status, verdict }) =>
    [type, kind, role, tool_name, status, verdict].filter((part) => part !== null).join(' '),
  );
}

/** An outline without what the harness runs beside the session (rule files are loaded while it starts). */
export function counts(lines: readonly string[]): Record<string, number> {
  const seen: Record<string, number> = {};
  for (const line of lines) seen[line] = (seen[line] ?? 0) + 1;
  return seen;
}
