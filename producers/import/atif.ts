/**
 * ATIF, the Agent Trajectory Interchange Format, 1.0 to 1.7. Whatever a step holds beside its text and its calls is
 * kept beside them (`input` of the step's event), so that jobs/export-atif.ts gives back what came in.
 */
import { z } from 'zod';
import { isoTime } from '../../schemas/time.ts';
import { asJson, asText, type RawDraft } from '../adapters/adapter.ts';
import { message, msOf, note, shown, start, textOf, toolCall } from './drafts.ts';
import type { FileFacts, Importer, Item, Session } from './importer.ts';

const Result = z.looseObject({ source_call_id: z.string().nullish(), content: z.unknown().optional() });
const Call = z.looseObject({
  tool_call_id: z.string(),
  function_name: z.string(),
  arguments: z.unknown().optional(),
});
const Step = z.looseObject({
  step_id: z.number(),
  timestamp: z.string().nullish(),
  source: z.string(),
  message: z.unknown().optional(),
  model_name: z.string().nullish(),
  tool_calls: z.array(Call).nullish(),
  observation: z.looseObject({ results: z.array(Result) }).nullish(),
});
type Step = z.infer<typeof Step>;
const Agent = z.looseObject({
  name: z.string(),
  version: z.string().nullish(),
  model_name: z.string().nullish(),
});
const Embedded = z.looseObject({
  trajectory_id: z.string().nullish(),
  session_id: z.string().nullish(),
  steps: z.array(z.unknown()),
});

export const atif: Importer = {
  format: 'atif',
  recognises: ({ root, fields, names }) =>
    root === 'object' &&
    (String(fields.schema_version).startsWith('ATIF') || (names.has('steps') && names.has('agent'))),
  shape: { split: ['steps'] },
  open: (file) => {
    const session = sessionOf(file);
    const { subagent_trajectories: embedded, ...root } = file.root;
    let begun = false;
    const told = (agent: string | null, ms: number | null, event: string, drafts: RawDraft[]): Item => ({
      ...{ is: 'told', session, agent_id: agent, ms, event, drafts },
    });
    const first = (): Item[] => {
      if (begun) return [];
      begun = true;
      const agent = Agent.safeParse(root.agent);
      return [
        told(null, null, 'trajectory', [start('start', { model: agent.data?.model_name ?? null }, root)]),
      ];
    };

    /** What the root says of a trajectory that has grown: the totals, for example. */
    function state(): Item[] {
      if (!file.document.grown) return [];
      const draft = note(`trajectory ${file.sha256}`, 'trajectory', { input: asJson(root) });
      return [told(null, null, 'trajectory', [draft])];
    }

    /** Trajectories inside the trajectory are subagents of the session. */
    function subagents(list: unknown, path: string): Item[] {
      if (!Array.isArray(list)) return [];
      return list.flatMap((one, at) => {
        const { steps, subagent_trajectories: inner, ...rest } = Embedded.parse(one);
        const id = rest.trajectory_id ?? rest.session_id ?? `${path}${at}`;
        const begins = note(`start ${id}`, 'subagent_start', { input: asJson(rest) });
        return [
          told(id, null, 'subagent_trajectory', [begins]),
          ...steps.map((step) => stepItem(step, (ms, event, drafts) => told(id, ms, event, drafts))),
          ...subagents(inner, `${path}${at}.`),
        ];
      });
    }

    return {
      record: (value) => [...first(), stepItem(value, (ms, event, drafts) => told(null, ms, event, drafts))],
      end: () => [...first(), ...subagents(embedded, ''), ...state()],
    };
  },
};

function sessionOf({ root, document }: FileFacts): Session {
  const ids = [root.session_id, root.trajectory_id].filter((id) => typeof id === 'string' && id !== '');
  const id = [...new Set(ids)].join('.') || document.id;
  const agent = Agent.safeParse(root.agent).data;
  return {
    ...{ id, original_id: id, harness: agent?.name.toLowerCase() ?? 'unknown' },
    harness_version: agent?.version ?? undefined,
  };
}

function stepItem(
  value: unknown,
  told: (ms: number | null, event: string, drafts: RawDraft[]) => Item,
): Item {
  const step = Step.parse(value);
  return told(msOf(step.timestamp), step.source, [saidDraft(step), ...callDrafts(step)]);
}

function saidDraft(step: Step): RawDraft {
  const { source, message: said, model_name: model } = step;
  const own = `step ${step.step_id}`;
  const text = textOf(said) ?? '';
  const rest = restOf(step);
  // calls alone say nothing; its own fields come out of the notice, which is known as the message would be
  if (source === 'agent' && (said ?? '') === '' && (step.tool_calls?.length ?? 0) > 0) {
    const fields = { model: model ?? null, message_id: own };
    return { ...note(own, source, { input: asJson(rest) }, fields), kind: 'message' };
  }
  if (source === 'user' || source === 'agent')
    return message(
      own,
      source === 'user' ? 'user' : 'assistant',
      text,
      { model: model ?? null, message_id: own },
      rest,
    );
  return note(own, source === 'system' ? 'system_prompt' : source, {
    text: asText(text),
    input: asJson(rest),
  });
}

/** Everything but text, arguments and outputs, and the places that those have. */
function restOf(step: Step): Record<string, unknown> {
  const { timestamp, message: said, tool_calls: calls, observation, source: _, ...rest } = step;
  const ms = msOf(timestamp);
  const answered = new Set((calls ?? []).map(({ tool_call_id: id }) => id));
  return {
    ...rest,
    ...(timestamp !== undefined && (ms === null || isoTime(ms) !== timestamp) ? { timestamp } : {}),
    ...(said === undefined || typeof said === 'string' ? {} : { message: said }),
    ...(said === undefined ? { message_absent: true } : {}),
    ...(calls == null ? {} : { tool_calls: calls.map(({ arguments: _arguments, ...call }) => call) }),
    ...(observation == null
      ? {}
      : {
          observation: { ...observation, results: observation.results.map((one) => placeOf(one, answered)) },
        }),
  };
}

/** A result whose content stands with its call: null for text, an empty list for parts. */
function placeOf(result: z.infer<typeof Result>, calls: Set<string>): unknown {
  const { source_call_id: id, content } = result;
  if (id == null || !calls.delete(id) || content == null) return result;
  return { ...result, content: typeof content === 'string' ? null : [] };
}

function callDrafts({ step_id, tool_calls, observation }: Step): RawDraft[] {
  const results = [...(observation?.results ?? [])];
  return (tool_calls ?? []).map(({ tool_call_id: id, function_name: name, arguments: input }, at) => {
    const found = results.findIndex((result) => result.source_call_id === id);
    const [result] = found === -1 ? [] : results.splice(found, 1);
    const content = result?.content;
    const output =
      typeof content === 'string' ? shown(content) : content == null ? undefined : asJson(content);
    const fields = { message_id: `step ${step_id}` };
    return toolCall({ id, of: `step ${step_id} ${at}`, name, input, output, status: null, fields });
  });
}
