/** A session as chat messages in OpenAI's shape, one conversation an agent; and as a transcript in Claude Code's. */
import type { TraceEvent } from '../schemas/generated.ts';
import { argumentsOf, byAgent, outcome, said } from './export-session.ts';
import { stepsOf } from './export-steps.ts';

type Fields = Record<string, unknown>;

/** One line an agent: `{messages, metadata}`. */
export function toOpenAi(events: readonly TraceEvent[]): Fields[] {
  return byAgent(events).flatMap(({ agent_id, events: own }) => {
    const messages = chatOf(own);
    if (messages.length === 0) return [];
    const session_id = own[0]?.session_id ?? '';
    return [{ messages, metadata: { session_id, ...(agent_id === null ? {} : { agent_id }) } }];
  });
}

function chatOf(events: readonly TraceEvent[]): Fields[] {
  let unnamed = 0;
  return stepsOf(events).flatMap((step): Fields[] => {
    if (step.is !== 'answer') return [{ role: step.is, content: said(step.event) }];
    const calls = step.calls.map((event) => ({ event, id: event.tool_use_id ?? `call-${++unnamed}` }));
    const answer = { role: 'assistant', content: step.said && said(step.said) };
    if (calls.length === 0) return [answer];
    return [
      {
        ...answer,
        tool_calls: calls.map(({ event, id }) => ({ id, type: 'function', function: called(event) })),
      },
      ...calls.map(({ event, id }) => ({ role: 'tool', tool_call_id: id, content: outcome(event) ?? '' })),
    ];
  });
}

function called(event: TraceEvent): Fields {
  return { name: event.tool_name ?? 'unknown', arguments: JSON.stringify(argumentsOf(event)) };
}

/** Lines of a transcript as Claude Code writes it; subagents' lines among them, as in one file of release 1.0. */
export function toClaudeJsonl(events: readonly TraceEvent[]): Fields[] {
  return byAgent(events).flatMap(({ agent_id, events: own }) => {
    let parent: string | null = null;
    const row = (event: TraceEvent, part: string, message: Fields, more: Fields = {}): Fields => {
      const uuid = uuidOf(event.event_id, part);
      const made = {
        ...{
          parentUuid: parent,
          isSidechain: agent_id !== null,
          ...(agent_id === null ? {} : { agentId: agent_id }),
        },
        ...{
          sessionId: event.session_id,
          version: event.harness_version ?? undefined,
          cwd: event.cwd ?? undefined,
        },
        ...{ type: message.role, message, uuid, timestamp: event.ts },
        ...more,
      };
      parent = uuid;
      return made;
    };
    return stepsOf(own).flatMap((step): Fields[] => {
      if (step.is !== 'answer') {
        const given = { role: 'user', content: said(step.event) };
        return step.is === 'user' ? [row(step.event, '0', given)] : [];
      }
      const { said: text, calls } = step;
      const rows = [...(text ? [text] : []), ...calls];
      const named = rows.find(({ message_id }) => message_id !== null)?.message_id;
      const id = named ?? `msg_${rows[0]?.event_id.slice(0, 24)}`;
      return [
        ...rows.map((event) => {
          const model = event.model === null ? {} : { model: event.model };
          const content = [event.type === 'message' ? { type: 'text', text: said(event) } : toolUse(event)];
          return row(event, '0', { id, type: 'message', role: 'assistant', ...model, content });
        }),
        ...calls.map((event) => row(event, '1', { role: 'user', content: [toolResult(event)] })),
      ];
    });
  });
}

const toolUseId = (event: TraceEvent) => event.tool_use_id ?? `toolu_${event.event_id.slice(0, 24)}`;

function toolUse(event: TraceEvent): Fields {
  const name = event.tool_name ?? 'unknown';
  return { type: 'tool_use', id: toolUseId(event), name, input: argumentsOf(event) };
}

function toolResult(event: TraceEvent): Fields {
  const failed = event.status !== null && event.status !== 'ok';
  return {
    type: 'tool_result',
    tool_use_id: toolUseId(event),
    content: outcome(event) ?? '',
    ...(failed ? { is_error: true } : {}),
  };
}

/** A name of a row that is the same at every export. */
function uuidOf(eventId: string, part: string): string {
  const hex = `${eventId.slice(0, 31)}${part}`;
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}
