/** A session as chat messages in OpenAI's shape, one conversation an agent; and as a transcript in Claude Code's. */
import type { TraceEvent } from '../schemas/generated.ts';
import { argumentsOf, byAgent, outcome, said } from './export-session.ts';

type Fields = Record<string, unknown>;

interface ChatMessage extends Fields {
  role: string;
  tool_calls?: Fields[];
}

/** One line an agent: `{messages, metadata}`. */
export function toOpenAi(events: readonly TraceEvent[]): Fields[] {
  return byAgent(events).flatMap(({ agent_id, events: own }) => {
    const messages = chatOf(own);
    if (messages.length === 0) return [];
    const session_id = own[0]?.session_id ?? '';
    return [{ messages, metadata: { session_id, ...(agent_id === null ? {} : { agent_id }) } }];
  });
}

function chatOf(events: readonly TraceEvent[]): ChatMessage[] {
  const messages: ChatMessage[] = [];
  /** The answer that calls are part of, until anything else is said; results follow it. */
  let answer: ChatMessage | null = null;
  for (const event of events) {
    if (event.kind === 'system_prompt') messages.push({ role: 'system', content: said(event) });
    else if (event.type === 'message') {
      const message: ChatMessage = { role: event.role ?? 'user', content: said(event) };
      messages.push(message);
      answer = event.role === 'assistant' ? message : null;
    } else if (event.type === 'tool_call') {
      const id = event.tool_use_id ?? `call-${messages.length}`;
      if (!answer) {
        answer = { role: 'assistant', content: null };
        messages.push(answer);
      }
      const call = { name: event.tool_name ?? 'unknown', arguments: JSON.stringify(argumentsOf(event)) };
      answer.tool_calls = [...(answer.tool_calls ?? []), { id, type: 'function', function: call }];
      messages.push({ role: 'tool', tool_call_id: id, content: outcome(event) ?? '' });
    }
  }
  return messages;
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
    return own.flatMap((event): Fields[] => {
      const model = event.model === null ? {} : { model: event.model };
      if (event.type === 'message' && event.role === 'assistant') {
        const content = [{ type: 'text', text: said(event) }];
        const id = event.message_id ?? `msg_${event.event_id.slice(0, 24)}`;
        return [row(event, '0', { id, type: 'message', role: 'assistant', ...model, content })];
      }
      if (event.type === 'message') return [row(event, '0', { role: 'user', content: said(event) })];
      if (event.type !== 'tool_call') return [];
      const id = event.tool_use_id ?? `toolu_${event.event_id.slice(0, 24)}`;
      const use = { type: 'tool_use', id, name: event.tool_name ?? 'unknown', input: argumentsOf(event) };
      const failed = event.status !== null && event.status !== 'ok';
      const result = {
        type: 'tool_result',
        tool_use_id: id,
        content: outcome(event) ?? '',
        ...(failed ? { is_error: true } : {}),
      };
      const said_by = {
        id: `msg_${event.event_id.slice(0, 24)}`,
        type: 'message',
        role: 'assistant',
        ...model,
      };
      return [
        row(event, '0', { ...said_by, content: [use] }),
        row(event, '1', { role: 'user', content: [result] }),
      ];
    });
  });
}

/** A name of a row that is the same at every export. */
function uuidOf(eventId: string, part: string): string {
  const hex = `${eventId.slice(0, 31)}${part}`;
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}
