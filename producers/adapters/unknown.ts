import { type Adapter, asJson, notice } from './adapter.ts';
import { type Payload, text } from './payload.ts';

/** A harness that has no adapter yet: its payloads are kept whole, as notices, under its own session ids. */
export function unknownHarness(harness: string): Adapter {
  return {
    harness,
    sessionId: (payload) =>
      first(payload, ['session_id', 'conversation_id', 'sessionId', 'sessionID', 'taskId']),
    agentId: (payload) => text(payload, 'agent_id'),
    event: (payload) => first(payload, ['hook_event_name', 'hookName', 'event_type', 'event']),
    drafts: (payload) => [notice('unknown_event', { input: asJson(payload) })],
    moment: () => null,
  };
}

function first(payload: Payload, names: readonly string[]): string | undefined {
  return names.map((name) => text(payload, name)).find((value) => value);
}
