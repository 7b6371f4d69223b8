import type { Adapter } from './adapter.ts';
import { claudeCode } from './claude-code.ts';
import { own, type Payload, text } from './payload.ts';
import { unknownHarness } from './unknown.ts';

/**
 * Whose payload is it? Harnesses read each other's settings (Cursor runs Claude Code's hooks), so the payload
 * tells, never the registration. What is like Claude Code's and has nothing of another's is Claude Code's.
 */
export function chooseAdapter(payload: Payload): Adapter {
  const has = (name: string) => own(payload, name) !== undefined;
  if (has('cursor_version') || has('conversation_id')) return unknownHarness('cursor');
  if (has('clineVersion')) return unknownHarness('cline');
  if (!has('hook_event_name') || !has('session_id')) return unknownHarness('unknown');
  if (isCodex(payload)) return unknownHarness('codex');
  if (has('timestamp')) return unknownHarness(has('tool_result') ? 'copilot' : 'gemini');
  return claudeCode;
}

/** Codex sends Claude Code's shape; its turns have ids, its sessions lie elsewhere. */
function isCodex(payload: Payload): boolean {
  const transcript = text(payload, 'transcript_path');
  if (transcript !== undefined && /[\\/](?:\.codex|rollout-)/.test(transcript)) return true;
  const event = text(payload, 'hook_event_name');
  return (
    own(payload, 'turn_id') !== undefined && event !== 'MessageDisplay' && own(payload, 'model') !== undefined
  );
}
