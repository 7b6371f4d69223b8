import { type Adapter, type Moment, notice, type Tell } from './adapter.ts';
import { asPayload, count, entry, list, own, type Payload, text } from './payload.ts';
import { callEnded, callStarted, prompt, remains, sessionEnd, sessionStart } from './telling.ts';

const BASE = ['clineVersion', 'hookName', 'timestamp', 'taskId', 'workspaceRoots', 'userId', 'model'];

/** The part of a payload that lies under its event's own name. */
const part = (payload: Payload, name: string): Payload => asPayload(own(payload, name)) ?? {};

const callOf = (told: Payload) => ({
  id: text(told, 'toolCallId'),
  name: text(told, 'toolName'),
  input: own(told, 'parameters'),
});

const started =
  (source: string): Tell =>
  (payload, { facts }) => [
    sessionStart({ cwd: cwdOf(payload) ?? null, source }, facts, remains(payload, BASE)),
  ];

/** Cline's hooks, as documented for 3.x; not measured. */
const EVENTS: Readonly<Record<string, Tell>> = {
  TaskStart: started('startup'),
  TaskResume: started('resume'),
  UserPromptSubmit: (payload) => [prompt(text(part(payload, 'userPromptSubmit'), 'prompt') ?? '')],
  PreToolUse: (payload) => [callStarted(callOf(part(payload, 'preToolUse')))],
  PostToolUse: (payload) => {
    const told = part(payload, 'postToolUse');
    return [
      callEnded({
        ...callOf(told),
        status: own(told, 'success') === false ? 'error' : 'ok',
        output: own(told, 'result'),
        fields: { duration_ms: count(told, 'executionTimeMs') ?? null },
      }),
    ];
  },
  PreCompact: (payload) => [notice('compaction_begins', remains(payload, BASE))],
  Notification: (payload) => [notice('notification', remains(payload, BASE))],
  TaskComplete: (payload) => [notice('stop', remains(payload, BASE)), sessionEnd('complete')],
  TaskCancel: (payload) => [sessionEnd('cancel', remains(payload, BASE))],
};

const MOMENTS: Readonly<Record<string, Moment>> = {
  TaskStart: 'start',
  TaskResume: 'start',
  TaskComplete: 'end',
  TaskCancel: 'end',
};

function cwdOf(payload: Payload): string | undefined {
  const [root] = list(payload, 'workspaceRoots');
  return typeof root === 'string' ? root : undefined;
}

/** Cline. It runs no hook that could keep it from completing a task: `flipstream run` grades in its place. */
export const cline: Adapter = {
  harness: 'cline',
  sessionId: (payload) => text(payload, 'taskId'),
  agentId: (payload) => text(payload, 'agent_id'),
  event: (payload) => text(payload, 'hookName'),
  drafts: (payload, context) => {
    const tell = entry(EVENTS, text(payload, 'hookName'));
    const model = text(part(payload, 'model'), 'slug');
    const drafts = tell?.(payload, context) ?? [notice('unknown_event', remains(payload, BASE))];
    return drafts.map((draft) => ({
      ...draft,
      fields: { ...(model === undefined ? {} : { model }), ...draft.fields },
    }));
  },
  moment: (payload) => entry(MOMENTS, text(payload, 'hookName')) ?? null,
  cwd: cwdOf,
  version: (payload) => text(payload, 'clineVersion'),
  stamped: true,
};
