import { isUtf8 } from 'node:buffer';
import { type Clock, isoTime } from '../schemas/time.ts';
import type { Adapter, Raw, RawDraft } from './adapters/adapter.ts';
import { asJson, asText, notice, STAMPED } from './adapters/adapter.ts';
import { chooseAdapter } from './adapters/choose.ts';
import { type Payload, text } from './adapters/payload.ts';
import { toolKind } from './adapters/tool-kind.ts';
import type { Content, Draft, SpoolEntry } from './draft.ts';
import { jsonObject } from './json-object.ts';
import { type SealOptions, sealJson, sealText } from './redaction/content.ts';
import { redactPiece, redactText } from './redaction/text.ts';
import type { Source } from './silence.ts';
import type { OpenKeys } from './spool/pieces.ts';

/** What capture needs beside the payload; hook and collector each give their own. */
export interface CaptureContext {
  /** The keyed hash of appendix A, under the installation's key (schemas/hash.ts). */
  hash: (data: string | Uint8Array) => string;
  /** Bytes that one field of content may take. */
  limit: number;
  clock: Clock;
  registration: string;
  transport: SpoolEntry['transport'];
  openKeys: OpenKeys;
  /** Text of a rule file that the harness has loaded; null where this process should not read it for a client. */
  readRules: (path: string) => string | null;
  /** Whether sessions in this directory are not to be recorded. */
  silenced: (source: Source) => boolean;
  /** Fields of a session_start (session-start.ts). */
  facts?: Draft['fields'];
  /** What the harness says of itself in its hooks' environment (AI_AGENT), where there is one. */
  agent?: string | undefined;
}

/** A payload as it was understood. */
export interface Heard {
  bytes: Buffer;
  /** Null when it is no JSON object. */
  payload: Payload | null;
  adapter: Adapter | null;
  event: string | null;
  sessionId: string;
  agentId: string | null;
  cwd: string | null;
}

/** The session of payloads that name none. */
const NO_SESSION = 'unknown';

/** Reads a payload. Never throws. */
export function hear(payload: string | Buffer): Heard {
  const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
  const parsed = jsonObject(bytes.toString('utf8').replace(/^\ufeff/, ''));
  if (!parsed) return { ...guess(bytes), bytes, payload: null, adapter: null };
  const adapter = chooseAdapter(parsed);
  return {
    bytes,
    payload: parsed,
    adapter,
    event: adapter.event(parsed) ?? null,
    sessionId: adapter.sessionId(parsed) || NO_SESSION,
    agentId: adapter.agentId(parsed) || null,
    cwd: pathOf(adapter.cwd?.(parsed) ?? text(parsed, 'cwd')),
  };
}

/** Half a payload often still says whose it is: what it begins with. */
function guess(bytes: Buffer): Pick<Heard, 'sessionId' | 'agentId' | 'event' | 'cwd'> {
  const start = bytes.subarray(0, 65_536).toString('utf8');
  const field = (name: string) =>
    new RegExp(`"${name}"\\s{0,4}:\\s{0,4}"([^"\\\\]{1,256})"`).exec(start)?.[1] ?? null;
  return {
    sessionId: field('session_id') ?? NO_SESSION,
    cwd: field('cwd'),
    agentId: field('agent_id'),
    event: field('hook_event_name'),
  };
}

/**
 * What the spool keeps of one payload: its drafts, redacted and cut. Anything at all may come in: what is no
 * JSON object becomes a notice `unparseable`, what no adapter knows a notice `unknown_event`.
 *
 * @returns null when sessions there are not to be recorded
 */
export function capture(payload: string | Buffer, context: CaptureContext): SpoolEntry | null {
  return captureHeard(hear(payload), context);
}

/** As `capture`, for a payload that was read already. */
export function captureHeard(heard: Heard, context: CaptureContext): SpoolEntry | null {
  if (context.silenced(heard)) return null;
  return entryOf(heard, context.hash(identityOf(heard)), draftsOf(heard, context), context);
}

function identityOf({ adapter, payload, bytes }: Heard): string | Buffer {
  try {
    return (payload && adapter?.identity?.(payload)) ?? asLine(bytes);
  } catch {
    return asLine(bytes); // nested too deeply to be written again
  }
}

const WHITE: ReadonlySet<number | undefined> = new Set(Buffer.from(' \t\r\n'));
const LINE_END = Buffer.from('\n');

/**
 * A payload with one line end after it, whatever white space came: Claude Code ends what it gives to a command with
 * one (2.1.332), so that ids recorded so far stay, and posts the same payload over HTTP without.
 */
function asLine(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (WHITE.has(bytes[end - 1])) end--;
  const isLine = bytes[end] === LINE_END[0];
  return isLine ? bytes.subarray(0, end + 1) : Buffer.concat([bytes.subarray(0, end), LINE_END]);
}

/** Longer than any path may be: it is none, and nobody walks up from it. */
const MAX_PATH = 4096;

function pathOf(cwd: string | undefined): string | null {
  return cwd !== undefined && cwd.length <= MAX_PATH ? cwd : null;
}

/** What is kept of a payload over the size limit: its length and hash, under the session that its beginning names. */
export interface TooLarge {
  beginning: Buffer;
  bytes: number;
  /** Keyed. */
  hash: string;
}

/** @returns null when sessions there are not to be recorded */
export function captureTooLarge(large: TooLarge, context: CaptureContext): SpoolEntry | null {
  const heard = { ...hear(''), ...guess(large.beginning) };
  if (context.silenced(heard)) return null;
  const draft = notice(
    'payload_too_large',
    { input: asJson({ bytes: large.bytes }) },
    { count: large.bytes },
  );
  return entryOf(heard, large.hash, [draft], context);
}

/** An event of our own about a session, for example the gate's. */
export function captureNotice(
  heard: Heard,
  kind: string,
  reason: string,
  context: CaptureContext,
): SpoolEntry {
  const payloadHash = context.hash(JSON.stringify([kind, reason, context.clock()]));
  return entryOf(heard, payloadHash, [notice(kind, {}, { reason })], context);
}

function draftsOf({ payload, adapter, bytes }: Heard, context: CaptureContext): RawDraft[] {
  if (!payload || !adapter) return [unparseable(bytes)];
  const { readRules, facts = {} } = context;
  const version = adapter.version?.(payload) ?? versionIn(context.agent, adapter.harness);
  return adapter.drafts(payload, { readRules, facts }).map((draft) => ({
    ...draft,
    ...(adapter.stamped && draft.own_id === undefined ? { phase: STAMPED } : {}),
    fields: {
      ...(version === undefined ? {} : { harness_version: version }),
      ...kindOf(draft.fields.tool_name, adapter.harness),
      ...draft.fields,
    },
  }));
}

/** The common kind of a tool, by the name in a draft's fields and whose it is. */
export function kindOf(name: Draft['fields'][string] | undefined, harness?: string): Draft['fields'] {
  return typeof name === 'string' ? { tool_kind: toolKind(name, harness) } : {};
}

/** The release in `claude-code_2-1-332_harness`, when it is the harness's own. */
export function versionIn(agent: string | undefined, harness: string): string | undefined {
  const [name, release, ...more] = agent?.split('_') ?? [];
  const is =
    name === harness &&
    more.length > 0 &&
    release !== undefined &&
    /^\d{1,6}(?:-\d{1,6}){1,4}$/.test(release);
  return is ? release.replaceAll('-', '.') : undefined;
}

/** Text is kept, redacted, if it is text at all; otherwise length and hash. */
function unparseable(bytes: Buffer): RawDraft {
  const fields = { count: bytes.length };
  if (bytes.length === 0 || !isUtf8(bytes)) return notice('unparseable', {}, fields);
  return notice('unparseable', { text: asText(bytes.toString('utf8')) }, fields);
}

function entryOf(heard: Heard, payloadHash: string, drafts: RawDraft[], context: CaptureContext): SpoolEntry {
  return {
    v: 1,
    ts: isoTime(context.clock()),
    session_id: id(heard.sessionId),
    agent_id: heard.agentId === null ? null : id(heard.agentId),
    harness: heard.adapter?.harness ?? 'unknown',
    harness_event: name(heard.event ?? 'unparseable'),
    registration: context.registration,
    transport: context.transport,
    payload_hash: payloadHash,
    drafts: drafts.map((draft) => sealed(draft, context)),
  };
}

const MAX_ID = 256;
const MAX_SCALAR = 4096;
/** Fields that stay as they are, whatever they look like: others find records by them. */
const IDS: ReadonlySet<string> = new Set([
  ...['tool_use_id', 'message_id', 'prompt_id', 'agent_id', 'task_id', 'original_id', 'parent_session_id'],
]);

function id(value: string): string {
  return value.slice(0, MAX_ID).toWellFormed();
}

function name(value: string): string {
  return redactText(value.slice(0, MAX_SCALAR).toWellFormed()).text;
}

/** What redacting and cutting needs of the context. */
export type SealContext = Pick<CaptureContext, 'hash' | 'limit' | 'openKeys'>;

/** A draft with its content redacted and cut. */
export function sealed(draft: RawDraft, context: SealContext): Draft {
  const fields = Object.entries(draft.fields).map(([field, value]) => {
    if (typeof value !== 'string') return [field, value];
    return [field, IDS.has(field) ? id(value) : name(value)];
  });
  const content: Draft['content'] = {};
  for (const field of ['text', 'input', 'output', 'result', 'diff'] as const) {
    const raw = draft.content[field];
    if (raw) content[field] = draft.role === 'piece' ? sealedPiece(raw, draft, context) : seal(raw, context);
  }
  const ownId = draft.own_id === undefined ? {} : { own_id: id(draft.own_id) };
  return { ...draft, ...ownId, fields: Object.fromEntries(fields), content };
}

function seal(raw: Raw, options: SealOptions): Content {
  return raw.as === 'text' && typeof raw.value === 'string'
    ? sealText(raw.value, options)
    : sealJson(raw.value, options);
}

/** A private key may begin in one piece of a message and end in another. A piece has no hash: the message has. */
function sealedPiece(raw: Raw, draft: RawDraft, { limit, openKeys }: SealContext): Content {
  const messageId = draft.own_id ?? '';
  const index = draft.index ?? 0;
  const before = index > 0 && openKeys.isOpen(messageId);
  let after = before;
  const content = sealText(String(raw.value), { hash: null, limit }, (piece) => {
    const redacted = redactPiece(piece, index, before);
    after = redacted.open;
    return redacted;
  });
  if (after !== before) openKeys.set(messageId, after && draft.final !== true);
  return content;
}
