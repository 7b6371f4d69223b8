/** SWE-agent's `.traj`, old and new: one document with the steps, the history of messages, and what came of it. */
import { basename } from 'node:path';
import { z } from 'zod';
import { asJson, asText, type RawDraft } from '../adapters/adapter.ts';
import { argumentsOf, message, note, start, textOf, toolCall } from './drafts.ts';
import type { FileFacts, Importer, Item, Session } from './importer.ts';

const FORMAT = 'swe-agent';

const Step = z.looseObject({
  action: z.string(),
  observation: z.string().nullish(),
  response: z.string().nullish(),
  thought: z.string().nullish(),
  execution_time: z.number().nullish(),
});
const Message = z.looseObject({
  role: z.string(),
  content: z.unknown().optional(),
  message_type: z.string().optional(),
  is_demo: z.boolean().optional(),
});
const Info = z.looseObject({
  swe_agent_version: z.string().optional(),
  exit_status: z.string().nullish(),
  submission: z.string().nullish(),
});
const Config = z.looseObject({
  agent: z.looseObject({ model: z.looseObject({ name: z.string() }).optional() }).optional(),
  env: z.looseObject({ repo: z.looseObject({ base_commit: z.string().optional() }).nullish() }).optional(),
});

/** Commands of SWE-agent's own; any other action is one for the shell. */
const COMMANDS: ReadonlySet<string> = new Set([
  ...[
    'open',
    'goto',
    'scroll_up',
    'scroll_down',
    'create',
    'edit',
    'insert',
    'append',
    'search_dir',
    'search_file',
  ],
  ...[
    'find_file',
    'submit',
    'str_replace_editor',
    'filemap',
    'view_image',
    'exit_forfeit',
    'exit_cost',
    'exit_error',
  ],
]);

/** SWE-agent's own words for a command that did not run or was stopped; it tells no exit codes. */
const FAILURES: readonly [RegExp, string][] = [
  [/^Your proposed edit has introduced new syntax error/, 'error'],
  [/^Your bash command contained syntax errors and was NOT executed/, 'error'],
  [/^The command .{0,4096}? was cancelled because it took more than/s, 'interrupted'],
  [/^EXECUTION TIMED OUT/, 'interrupted'],
];

export const sweAgent: Importer = {
  format: FORMAT,
  recognises: ({ root, names, fields }) =>
    root === 'object' &&
    names.has('trajectory') &&
    !names.has('schema_version') &&
    !('trajectory_format' in fields),
  shape: { split: ['trajectory', 'history'] },
  survey(root, key, value) {
    // what was said before the agent's first answer; all later history is said again by the steps
    const opening = z.array(z.unknown()).catch([]).parse(root.opening);
    if (key !== 'history' || root.answered === true) return;
    const parsed = Message.safeParse(value);
    if (parsed.success && parsed.data.role === 'assistant' && parsed.data.is_demo !== true)
      root.answered = true;
    else root.opening = [...opening, value];
  },
  open: (file) => {
    const session = sessionOf(file);
    const told = (event: string, drafts: RawDraft[]): Item => ({
      ...{ is: 'told', session, agent_id: null, ms: null, event, drafts },
    });
    let begun = false;
    return {
      record(value, { key, index }) {
        const items = begun ? [] : opening(file, told);
        begun = true;
        if (key !== 'trajectory' || index === null)
          return [...items, { is: 'repeated', reason: 'history of what the steps say' }];
        return [...items, told('step', stepDrafts(Step.parse(value), index))];
      },
      end: () => [...(begun ? [] : opening(file, told)), ...closing(file, told)],
    };
  },
};

type Tell = (event: string, drafts: RawDraft[]) => Item;

function sessionOf({ path, document, root }: FileFacts): Session {
  const info = Info.safeParse(root.info);
  const { environment } = root;
  const named = typeof environment === 'string' && !/^(?:swe_)?main$/.test(environment);
  return {
    id: document.id,
    original_id: named ? environment : basename(path).replace(/\.traj(?:\.\w{1,8})*$/, ''),
    harness: 'swe-agent',
    harness_version: info.success ? info.data.swe_agent_version : undefined,
  };
}

function opening({ root }: FileFacts, told: Tell): Item[] {
  const config = argumentsOf(root.replay_config);
  const known = Config.safeParse(config);
  const fields: RawDraft['fields'] = known.success
    ? {
        model: known.data.agent?.model?.name ?? null,
        base_commit: known.data.env?.repo?.base_commit ?? null,
      }
    : {};
  const rest = config === undefined ? {} : { replay_config: config };
  const said = z.array(Message).catch([]).parse(root.opening);
  return [
    told('start', [start('start', fields, rest)]),
    ...said.map((one, at) => told(`history.${one.role}`, [openingDraft(one, at)])),
  ];
}

function openingDraft({ role, content, is_demo, message_type }: z.infer<typeof Message>, at: number) {
  const text = textOf(content) ?? JSON.stringify(content) ?? '';
  const own = `opening ${at}`;
  if (is_demo || message_type === 'demonstration') return note(own, 'demonstration', { text: asText(text) });
  if (role === 'system') return note(own, 'system_prompt', { text: asText(text) });
  return message(own, 'user', text);
}

function stepDrafts(
  { action, observation, response, thought, execution_time, ...rest }: z.infer<typeof Step>,
  at: number,
) {
  const said = response || thought || '';
  const { messages: _m, query: _q, ...told } = rest;
  const [word = ''] = action.trim().split(/\s/, 1);
  const status = FAILURES.find(([form]) => form.test(observation ?? ''))?.[1] ?? null;
  return [
    ...(said.trim() === '' ? [] : [message(`step ${at}`, 'assistant', said)]),
    ...(action.trim() === ''
      ? []
      : [
          toolCall({
            id: `step-${at}`,
            name: COMMANDS.has(word) ? word : 'bash',
            input: { command: action },
            output: asText(observation ?? ''),
            result: Object.keys(told).length === 0 ? undefined : asJson(told),
            status,
            duration_ms: typeof execution_time === 'number' ? Math.round(execution_time * 1000) : null,
          }),
        ]),
  ];
}

function closing({ root, document, sha256 }: FileFacts, told: Tell): Item[] {
  const info = Info.safeParse(root.info);
  if (!info.success) return [];
  const { submission, exit_status, ...rest } = info.data;
  const content = {
    ...(typeof submission === 'string' && submission !== '' ? { diff: asText(submission) } : {}),
    input: asJson(rest),
  };
  return [
    told('info', [
      note(document.grown ? `info ${sha256}` : 'info', 'submission', content, {
        reason: exit_status ?? null,
      }),
    ]),
  ];
}
