import {
  type Adapter,
  asJson,
  asText,
  type Moment,
  notice,
  printBlock,
  type RawDraft,
  type Tell,
} from './adapter.ts';
import { asPayload, entry, own, type Payload, text } from './payload.ts';
import {
  callEnded,
  callStarted,
  lastMessage,
  prompt,
  remains,
  sessionEnd,
  shownOf,
  startTold,
} from './telling.ts';

const BASE = ['session_id', 'transcript_path', 'cwd', 'hook_event_name', 'timestamp'];

/** Gemini CLI gives calls no id: the collector pairs them. */
const callOf = (payload: Payload) => ({
  id: text(payload, 'tool_call_id') ?? text(payload, 'tool_use_id'),
  name: text(payload, 'tool_name'),
  input: own(payload, 'tool_input'),
});

function toolEnded(payload: Payload): RawDraft {
  const response = asPayload(own(payload, 'tool_response')) ?? {};
  const shown = shownOf(own(response, 'llmContent'));
  const error = own(response, 'error');
  const code = exitCode(shown);
  const failed = (error !== undefined && error !== null) || (code !== null && code !== 0);
  return callEnded({
    ...callOf(payload),
    status: failed ? 'error' : 'ok',
    output: shown,
    result: own(payload, 'tool_response'),
    fields: { exit_code: code },
  });
}

/** What a command's result says in a line of its own, and says only when it is not 0. */
function exitCode(shown: unknown): number | null {
  const found = typeof shown === 'string' ? /^Exit Code: (\d{1,10})$/m.exec(shown)?.[1] : undefined;
  return found === undefined ? null : Number(found);
}

/** Gemini CLI's hook events (measured at 0.61.0). Those of each piece of an answer are not asked for: they carry the whole conversation every time. */
const EVENTS: Readonly<Record<string, Tell>> = {
  SessionStart: startTold(BASE),
  BeforeAgent: (payload) => [prompt(text(payload, 'prompt') ?? '')],
  BeforeTool: (payload) => [callStarted(callOf(payload))],
  AfterTool: (payload) => [toolEnded(payload)],
  AfterAgent: (payload) => {
    const said = text(payload, 'prompt_response');
    const stop = notice('stop', remains(payload, [...BASE, 'prompt', 'prompt_response']));
    return said === undefined ? [stop] : [lastMessage(said), stop];
  },
  BeforeModel: (payload) => [
    notice(
      'model_request',
      {},
      { model: text(asPayload(own(payload, 'llm_request')) ?? {}, 'model') ?? null },
    ),
  ],
  PreCompress: (payload) => [
    notice('compaction_begins', remains(payload, [...BASE, 'trigger']), {
      reason: text(payload, 'trigger') ?? null,
    }),
  ],
  Notification: (payload) => [
    notice('notification', {
      text: asText(text(payload, 'message') ?? ''),
      input: asJson({ type: own(payload, 'notification_type'), details: own(payload, 'details') }),
    }),
  ],
  SessionEnd: (payload) => [sessionEnd(text(payload, 'reason'), remains(payload, [...BASE, 'reason']))],
};

const MOMENTS: Readonly<Record<string, Moment>> = {
  SessionStart: 'start',
  AfterAgent: 'stop',
  SessionEnd: 'end',
};
const eventOf = (payload: Payload) => text(payload, 'hook_event_name');

/** Google's Gemini CLI. */
export const gemini: Adapter = {
  harness: 'gemini',
  sessionId: (payload) => text(payload, 'session_id'),
  agentId: () => undefined,
  event: eventOf,
  drafts: (payload, context) => {
    const tell = entry(EVENTS, eventOf(payload));
    return tell?.(payload, context) ?? [notice('unknown_event', remains(payload, BASE))];
  },
  moment: (payload) => entry(MOMENTS, eventOf(payload)) ?? null,
  hold: { by: 'refusal', print: printBlock },
  stamped: true,
  showsMessage: true,
};

/** Events of Gemini CLI that no other harness has. */
const ITS_OWN = /^(?:Before|After)(?:Tool|Agent|Model|ToolSelection)$|^PreCompress$/;

/** Whether a payload with a time in it is Gemini CLI's: GitHub Copilot's have one too. */
export function isGemini(payload: Payload): boolean {
  const name = eventOf(payload) ?? '';
  if (ITS_OWN.test(name)) return true;
  return (
    /^(?:SessionStart|SessionEnd|Notification)$/.test(name) && own(payload, 'transcript_path') !== undefined
  );
}
