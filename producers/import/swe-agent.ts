/** SWE-agent's `.traj`, old and new: one document with the steps, the history of messages, and what came of it. */
import { basename } from 'node:path';
import { z } from 'zod';
import { asJson, asText, type RawDraft } from '../adapters/adapter.ts';
import { asPayload } from '../adapters/payload.ts';
import { argumentsOf, message, note, start, toolCall } from './drafts.ts';
import type { FileFacts, Importer, Item, Reader, Session } from './importer.ts';
import type { Peek } from './peek.ts';
import { Message, openingDraft, readHistory } from './swe-agent-history.ts';
import { statusOf, toolOf } from './swe-agent-words.ts';

const FORMAT = 'swe-agent';

const Step = z.looseObject({
  action: z.string(),
  observation: z.string().nullish(),
  response: z.string().nullish(),
  thought: z.string().nullish(),
  execution_time: z.number().nullish(),
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

/** Fields that a `.traj` has. */
const FIELDS: ReadonlySet<string> = new Set([
  'history',
  'trajectory',
  'info',
  'environment',
  'replay_config',
]);

/** A `.traj` of nothing but the messages, such as SWE-agent's demonstrations are. */
function isHistory({ fields, names }: Peek): boolean {
  const { history } = fields;
  const [first] = Array.isArray(history) ? history : [];
  const told = asPayload(first);
  // a long one is not seen whole
  if (history !== undefined) return told?.role !== undefined && ('agent' in told || 'message_type' in told);
  return names.has('history') && [...names].every((name) => FIELDS.has(name));
}

export const sweAgent: Importer = {
  format: FORMAT,
  recognises: (look) =>
    look.root === 'object' &&
    (look.names.has('trajectory') || isHistory(look)) &&
    !look.names.has('schema_version') &&
    !('trajectory_format' in look.fields),
  shape: { split: ['trajectory', 'history'] },
  survey(root, key, value) {
    if (key === 'trajectory') root.stepped = true;
    // what was said before the agent's first answer; all later history is said again by the steps
    if (key !== 'history' || root.answered === true) return;
    const opening = z.array(z.unknown()).catch([]).parse(root.opening);
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
    return file.root.stepped === true ? stepsOf(file, told) : historyOf(file, told);
  },
};

function stepsOf(file: FileFacts, told: Tell): Reader {
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
}

function historyOf(file: FileFacts, told: Tell): Reader {
  const history = readHistory();
  let begun = false;
  const first = (): Item[] => {
    const items = begun ? [] : [beginning(file, told)];
    begun = true;
    return items;
  };
  return {
    record(value, { index }) {
      const drafts = history.drafts(value, index ?? 0);
      if (drafts.length === 0) return [...first(), { is: 'repeated', reason: 'told by its calls' }];
      return [...first(), told('history', drafts)];
    },
    end: () => {
      const left = history.end();
      return [...first(), ...(left.length > 0 ? [told('end', left)] : []), ...closing(file, told)];
    },
  };
}

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

function beginning({ root }: FileFacts, told: Tell): Item {
  const config = argumentsOf(root.replay_config);
  const known = Config.safeParse(config);
  const fields: RawDraft['fields'] = known.success
    ? {
        model: known.data.agent?.model?.name ?? null,
        base_commit: known.data.env?.repo?.base_commit ?? null,
      }
    : {};
  return told('start', [start('start', fields, config === undefined ? {} : { replay_config: config })]);
}

function opening(file: FileFacts, told: Tell): Item[] {
  const said = z.array(Message).catch([]).parse(file.root.opening);
  return [
    beginning(file, told),
    ...said.map((one, at) => told(`history.${one.role}`, [openingDraft(one, at)])),
  ];
}

function stepDrafts(
  { action, observation, response, thought, execution_time, ...rest }: z.infer<typeof Step>,
  at: number,
) {
  const said = response || thought || '';
  const { messages: _m, query: _q, ...told } = rest;
  return [
    ...(said.trim() === '' ? [] : [message(`step ${at}`, 'assistant', said)]),
    ...(action.trim() === ''
      ? []
      : [
          toolCall({
            id: `step-${at}`,
            name: toolOf(action),
            input: { command: action },
            output: asText(observation ?? ''),
            result: Object.keys(told).length === 0 ? undefined : asJson(told),
            status: statusOf(observation ?? ''),
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
