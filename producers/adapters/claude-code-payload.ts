import { asJson, type RawDraft } from './adapter.ts';
import { type Payload, without } from './payload.ts';

/** What every payload has and an event has fields for. */
export const BASE = ['prompt_id', 'agent_type'] as const;

const SAID_ELSEWHERE = [
  ...BASE,
  'session_id',
  'transcript_path',
  'cwd',
  'hook_event_name',
  'permission_mode',
  'agent_id',
  'effort',
  'scratchpad_dir',
];

/** What a payload tells beside what has a field of its own, as content `input`; nothing when there is nothing. */
export function rest(payload: Payload, told: readonly string[] = []): RawDraft['content'] {
  const left = without(payload, new Set([...SAID_ELSEWHERE, ...told]));
  return Object.keys(left).length === 0 ? {} : { input: asJson(left) };
}
