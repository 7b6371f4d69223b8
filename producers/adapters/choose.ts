import type { Adapter } from './adapter.ts';
import { claudeCode } from './claude-code.ts';
import { cline } from './cline.ts';
import { codex, isCodex } from './codex.ts';
import { copilot } from './copilot.ts';
import { cursor } from './cursor.ts';
import { gemini, isGemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { openhands } from './openhands.ts';
import { own, type Payload } from './payload.ts';
import { unknownHarness } from './unknown.ts';

/** Every harness that has an adapter. */
export const ADAPTERS: readonly Adapter[] = [
  ...[claudeCode, codex, opencode, gemini, cursor, copilot, cline, openhands],
];

/**
 * Whose payload is it? Harnesses read each other's settings (Cursor and Copilot run Claude Code's hooks), so the
 * payload tells, never the registration. What is like Claude Code's and has nothing of another's is Claude Code's.
 */
export function chooseAdapter(payload: Payload): Adapter {
  const has = (name: string) => own(payload, name) !== undefined;
  if (has('cursor_version') || has('conversation_id')) return cursor;
  if (has('clineVersion') || (has('hookName') && !has('sessionId'))) return cline;
  if (has('opencode_event')) return opencode;
  if (has('event_type') && has('working_dir')) return openhands;
  if (has('timestamp') && isGemini(payload)) return gemini;
  if (has('timestamp') && (has('sessionId') || has('hook_event_name'))) return copilot;
  if (!has('hook_event_name') || !has('session_id')) return unknownHarness('unknown');
  return isCodex(payload) ? codex : claudeCode;
}
