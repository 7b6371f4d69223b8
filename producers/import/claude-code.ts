/** Claude Code's transcripts: one JSON Lines file a session, and one for each subagent of it. */
import { z } from 'zod';
import { asJson, asText, type RawDraft } from '../adapters/adapter.ts';
import type { Payload } from '../adapters/payload.ts';
import { endOf } from './claude-code-ends.ts';
import { type Call, message, msOf, note, shown, start, textOf, toolCall } from './drafts.ts';
import type { FileFacts, Importer, Item, Session } from './importer.ts';

const Block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
  tool_use_id: z.string().optional(),
  content: z.unknown().optional(),
  is_error: z.boolean().nullish(),
});
type Block = z.infer<typeof Block>;
const Row = z.looseObject({
  type: z.string(),
  subtype: z.string().optional(),
  uuid: z.string().optional(),
  parentUuid: z.string().nullish(),
  sessionId: z.string().optional(),
  agentId: z.string().optional(),
  isSidechain: z.boolean().optional(),
  isMeta: z.boolean().optional(),
  isCompactSummary: z.boolean().optional(),
  isApiErrorMessage: z.boolean().optional(),
  timestamp: z.string().optional(),
  version: z.string().optional(),
  cwd: z.string().optional(),
  forkedFrom: z.looseObject({ sessionId: z.string() }).nullish(),
  message: z
    .looseObject({
      id: z.string().optional(),
      role: z.string().optional(),
      model: z.string().optional(),
      content: z.union([z.string(), z.array(Block)]).optional(),
      usage: z.unknown().optional(),
    })
    .optional(),
  toolUseResult: z.unknown().optional(),
});
type Row = z.infer<typeof Row>;

/** What every row repeats, or what has a field of its own. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  ...[
    'type',
    'uuid',
    'parentUuid',
    'sessionId',
    'agentId',
    'isSidechain',
    'timestamp',
    'version',
    'cwd',
    'message',
  ],
  ...['toolUseResult', 'userType', 'gitBranch', 'entrypoint', 'slug', 'sessionKind'],
]);

export const claudeCode: Importer = {
  format: 'claude-code',
  recognises: ({ lines }) =>
    lines.some(
      ({ type, sessionId, uuid, message: said, leafUuid }) =>
        typeof type === 'string' &&
        ((typeof sessionId === 'string' &&
          (typeof uuid === 'string' || typeof said === 'object' || said === undefined)) ||
          (type === 'summary' && typeof leafUuid === 'string')),
    ),
  shape: 'lines',
  open: (file) => openTranscript(file),
};

interface State {
  session: Session | null;
  /** Calls that have no result yet, with whose they are. */
  open: Map<string, { call: Call; agent: string | null }>;
  /** Of rows of subagents without a name (1.0), the row that began theirs. */
  roots: Map<string, string>;
  begun: boolean;
}

const MOST_ROOTS = 20_000;

function openTranscript(file: FileFacts) {
  const state: State = { session: null, open: new Map(), roots: new Map(), begun: false };
  const told = (session: Session, row: Row, agent: string | null, drafts: RawDraft[]): Item => ({
    ...{ is: 'told', session, agent_id: agent, ms: msOf(row.timestamp), drafts },
    event: row.subtype === undefined ? row.type : `${row.type}.${row.subtype}`,
  });

  function record(value: unknown, index: number): Item[] {
    const row = Row.parse(value);
    const session = sessionFor(state, row);
    if (!session) return [{ is: 'refused', at: '', reason: 'a row before any that names its session' }];
    const own = row.uuid ?? `line ${index}`;
    if (row.uuid !== undefined && file.isRepeated(session, row.uuid))
      return [{ is: 'repeated', reason: 'history of another session' }];
    const agent = agentOf(state, row);
    const drafts = draftsOf(state, row, own, agent);
    if (!state.begun && agent === null) {
      state.begun = true;
      const fields = { cwd: row.cwd ?? null, model: null, source: row.forkedFrom ? 'fork' : 'import' };
      return [told(session, row, null, [start('start', fields), ...drafts])];
    }
    return drafts.length > 0
      ? [told(session, row, agent, drafts)]
      : [{ is: 'repeated', reason: 'a call, told with its result' }];
  }

  return {
    record: (value: unknown, { index }: { index: number | null }) => record(value, index ?? 0),
    end: (): Item[] => {
      const { session } = state;
      if (!session) return [];
      return [...state.open.values()].map(({ call, agent }) => ({
        ...{ is: 'told', session, agent_id: agent, ms: null, event: 'assistant' },
        drafts: [toolCall({ ...call, status: 'interrupted' })],
      }));
    },
  };
}

function sessionFor(state: State, { sessionId, version, forkedFrom }: Row): Session | null {
  if (sessionId === undefined) return state.session;
  if (state.session?.id === sessionId) {
    state.session.harness_version ??= version;
    return state.session;
  }
  state.session = {
    ...{ id: sessionId, original_id: sessionId, harness: 'claude-code', harness_version: version },
    parent_session_id: forkedFrom?.sessionId,
  };
  return state.session;
}

/** Whose row it is: a subagent's is named in it, or (1.0) hangs below the row that began the subagent. */
function agentOf({ roots }: State, { isSidechain, agentId, uuid, parentUuid }: Row): string | null {
  if (isSidechain !== true) return null;
  if (agentId !== undefined) return agentId;
  const root = (parentUuid ? roots.get(parentUuid) : undefined) ?? uuid ?? 'sidechain';
  if (uuid !== undefined) {
    if (roots.size >= MOST_ROOTS) roots.delete(roots.keys().next().value ?? '');
    roots.set(uuid, root);
  }
  return root;
}

function draftsOf(state: State, row: Row, own: string, agent: string | null): RawDraft[] {
  const { type, message: said } = row;
  const rest = without(row);
  if (row.isCompactSummary === true) return [note(own, 'compaction', textual(said?.content), {})];
  if (type === 'user' && row.isMeta === true) return [note(own, 'meta', textual(said?.content))];
  if ((type !== 'user' && type !== 'assistant') || said?.content === undefined) return [noteOf(row, own)];
  if (row.isApiErrorMessage === true)
    return [note(own, 'api_failure', { ...textual(said.content), input: asJson(rest) })];
  if (typeof said.content === 'string') return [spoken(row, own, said.content)];
  return said.content.flatMap((block, at) => blockDrafts(state, row, block, { own: `${own} ${at}`, agent }));
}

function blockDrafts(
  state: State,
  row: Row,
  block: Block,
  { own, agent }: { own: string; agent: string | null },
): RawDraft[] {
  const { type, id, tool_use_id } = block;
  if (type === 'text') return [spoken(row, own, block.text ?? '')];
  if (type === 'thinking') return [note(own, 'thinking', { text: asText(block.thinking ?? '') })];
  if (type === 'tool_use' && id !== undefined) {
    const fields = { message_id: row.message?.id ?? row.uuid ?? null };
    const call = { id, name: block.name ?? null, input: block.input, status: null, fields };
    state.open.set(id, { call, agent });
    return [];
  }
  if (type === 'tool_result' && tool_use_id !== undefined) {
    const open = state.open.get(tool_use_id)?.call;
    state.open.delete(tool_use_id);
    const call = open ?? { id: tool_use_id, name: null, input: undefined };
    const { toolUseResult: result } = row;
    const seen = shown(block.content);
    const end = endOf({
      name: call.name,
      text: textOf(block.content) ?? '',
      isError: block.is_error === true,
      result,
    });
    return [
      toolCall({
        ...call,
        ...end,
        output: seen ?? asText(''),
        result: result === undefined ? undefined : asJson(result),
      }),
    ];
  }
  return [note(own, type, { input: asJson(block) })];
}

function spoken(row: Row, own: string, text: string): RawDraft {
  const { id, model, usage } = row.message ?? {};
  const rest = { ...without(row), ...(usage === undefined ? {} : { usage }) };
  const role = row.type === 'assistant' ? 'assistant' : 'user';
  return message(
    own,
    role,
    text,
    { message_id: id ?? null, ...(model === undefined ? {} : { model }) },
    rest,
  );
}

/** Rows that are no messages, under the name that live capture has for them where it has one. */
function noteOf(row: Row, own: string): RawDraft {
  const { type, subtype } = row;
  const kind = subtype === 'compact_boundary' ? 'compaction' : (subtype ?? type);
  return note(own, kind, { input: asJson(without(row)) });
}

function textual(content: string | Block[] | undefined): RawDraft['content'] {
  const text = textOf(content);
  return text === null ? { input: asJson(content) } : { text: asText(text) };
}

function without(row: Row): Payload {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !ELSEWHERE.has(name)));
}
