/** Spool entries as the hook writes them, and a collector's surroundings, for the tests of this folder. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log, Outgoing } from '../../log/log.ts';
import type { TraceEvent } from '../../schemas/generated.ts';
import { sha256 } from '../../schemas/hash.ts';
import { isoTime } from '../../schemas/time.ts';
import type { Content, Draft, SpoolEntry } from '../draft.ts';
import { type Home, layout } from '../home.ts';
import { assemble } from './assemble.ts';
import type { Proto } from './proto.ts';
import { newSession, type SessionState } from './session-state.ts';
import type { AssembleContext } from './work.ts';

export const T0 = Date.parse('2026-11-29T12:00:00.000Z');

export function content(text: string): Content {
  return { text, bytes: Buffer.byteLength(text), cut: false, hits: 0, hash: sha256(`key ${text}`) };
}

type Part = Partial<Draft> & { fields?: Draft['fields']; content?: Draft['content'] };

function draft(role: Draft['role'], type: Draft['type'], kind: string, part: Part): Draft {
  return { role, type, kind, fields: {}, content: {}, ...part };
}

/** One payload's drafts, by what the harness tells. */
export const told = {
  start: (fields: Draft['fields'] = {}) => [
    draft('event', 'session_start', 'session_start', { fields: { source: 'startup', ...fields } }),
  ],
  prompt: (text: string) => [
    draft('event', 'message', 'prompt', { fields: { role: 'user' }, content: { text: content(text) } }),
  ],
  callStarted: (id: string, tool = 'Bash') => [
    draft('call_started', 'notice', 'tool_call', {
      fields: { tool_name: tool, kind: 'call_started' },
      content: { input: content(`{"of":"${id}"}`) },
      own_id: id,
      phase: 'started',
    }),
  ],
  callEnded: (id: string, status = 'ok') => [
    draft('call_ended', 'tool_call', 'tool_call', {
      fields: { tool_name: 'Bash', status, duration_ms: 5 },
      content: { input: content(`{"of":"${id}"}`), result: content(`{"result":"${id}"}`) },
      own_id: id,
      phase: 'ended',
    }),
  ],
  batch: (...ids: string[]) =>
    ids.map((id) =>
      draft('call_seen', 'tool_call', 'tool_call', {
        fields: { tool_name: 'Bash' },
        content: { output: content(`seen ${id}`) },
        own_id: id,
        phase: 'seen',
      }),
    ),
  piece: (id: string, index: number, text: string, final = false) => {
    const { hash: _, ...piece } = content(text);
    const own = { own_id: id, phase: `piece ${index}`, index, final };
    return [draft('piece', 'message', 'message', { content: { text: piece }, ...own })];
  },
  stop: (last?: string) => [
    ...(last === undefined
      ? []
      : [draft('last_message', 'message', 'last_message', { content: { text: content(last) } })]),
    draft('event', 'notice', 'stop', { fields: { kind: 'stop' } }),
  ],
  notice: (kind: string, fields: Draft['fields'] = {}) => [
    draft('event', 'notice', kind, { fields: { kind, ...fields } }),
  ],
  end: (reason = 'other') => [draft('event', 'session_end', 'session_end', { fields: { reason } })],
};

let captured = 0;

/** An entry captured some milliseconds after T0; `payload` tells payloads of equal drafts apart or makes them one. */
export function entry(
  drafts: Draft[],
  more: Partial<SpoolEntry> & { at?: number; payload?: string } = {},
): SpoolEntry {
  const { at = captured++, payload, ...rest } = more;
  const turnEnd = drafts.some((one) => one.kind === 'stop');
  return {
    v: 1,
    ts: isoTime(T0 + at),
    session_id: 's1',
    agent_id: null,
    harness: 'claude-code',
    harness_event: turnEnd ? 'Stop' : 'Other',
    registration: 'settings',
    transport: 'command',
    payload_hash: sha256(payload ?? JSON.stringify(drafts)),
    drafts,
    ...rest,
  };
}

/** The assembler over entries in order, with a memory of identities such as collector.db is. */
export function assembleAll(entries: readonly SpoolEntry[], change: Partial<AssembleContext> = {}) {
  const known = new Set<string>();
  const ordinals = new Map<string, number>();
  const events: Proto[] = [];
  let state: SessionState = newSession('claude-code');
  for (const one of entries) {
    const key = `${one.registration} ${one.payload_hash}`;
    const ordinal = ordinals.get(key) ?? 0;
    ordinals.set(key, ordinal + 1);
    const context: AssembleContext = {
      session_id: 's1',
      ordinal,
      known: (id) => known.has(id),
      keyedHash: (text) => sha256(`key ${text}`),
      redact: (text) => ({ text, hits: 0 }),
      limit: 65_536,
      ...change,
    };
    const done = assemble(state, one, context);
    state = done.state;
    for (const event of done.events) for (const id of [event.event_id, ...event.also]) known.add(id);
    for (const id of done.absorbed) known.add(id);
    events.push(...done.events);
  }
  return { state, events };
}

/** What an event tells, for comparison by eye. */
export function gist({ type, fields, content: c, agent_id }: Proto): string {
  const what = [
    fields.kind,
    fields.tool_use_id,
    fields.status,
    c.text?.text,
    c.output?.text,
    agent_id,
    fields.outcome,
  ];
  return [type, ...what.filter((one) => one !== undefined && one !== null)].join(' ');
}

export function temporaryHome(): { home: Home; remove: () => void } {
  const home = layout(mkdtempSync(join(tmpdir(), 'fs-col-')));
  mkdirSync(join(home.spool, 'new'), { recursive: true });
  return { home, remove: () => rmSync(home.root, { recursive: true, force: true }) };
}

let written = 0;

/** Puts entries into the spool, in order. */
export function spool(home: Home, ...entries: SpoolEntry[]): void {
  for (const one of entries) {
    const name = `${String(written++).padStart(16, '0')}-1-abc.json`;
    writeFileSync(join(home.spool, 'new', name), JSON.stringify(one));
  }
}

/** A log that remembers, and fails while `down`. */
export interface MemoryLog extends Pick<Log, 'publish'> {
  events: TraceEvent[];
  down: boolean;
}

export function memoryLog(): MemoryLog {
  const log: MemoryLog = {
    events: [],
    down: false,
    publish: async (records: readonly Outgoing[]) => {
      if (log.down) throw new Error('the log is down');
      for (const { topic, value } of records)
        if (topic === 'trace.raw' && 'turn' in value) log.events.push(value);
    },
  };
  return log;
}

/** One request over the collector's socket. */
export function ask(home: Home, path: string, body?: object): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const method = body ? 'POST' : 'GET';
    const outgoing = request({ socketPath: home.collectorSocket, path, method, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve(JSON.parse(text)));
    });
    outgoing.on('error', reject);
    outgoing.end(body && JSON.stringify(body));
  });
}
