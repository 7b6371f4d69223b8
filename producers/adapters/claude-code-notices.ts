import { asText, notice, type RawDraft } from './adapter.ts';
import { rest } from './claude-code-payload.ts';
import { type Payload, text } from './payload.ts';

/** Events that become a `notice`: kind, the field that is its text, the field that is its reason. */
const ROWS: readonly [event: string, kind: string, textField?: string, reasonField?: string][] = [
  ['UserPromptExpansion', 'prompt_expanded', 'prompt'],
  ['PreSkillShellCommand', 'skill_command'],
  ['PermissionRequest', 'permission_request'],
  ['Notification', 'notification', 'message'],
  ['SubagentStart', 'subagent_start'],
  ['PreCompact', 'compaction_begins', 'custom_instructions', 'trigger'],
  ['PostCompact', 'compaction', 'compact_summary', 'trigger'],
  ['PreModelSwitch', 'model_switch_begins'],
  ['PostModelSwitch', 'model_switch'],
  ['Elicitation', 'elicitation', 'message'],
  ['ElicitationResult', 'elicitation_result', undefined, 'action'],
  ['ConfigChange', 'config_change', undefined, 'source'],
  ['CwdChanged', 'cwd_changed'],
  ['DirectoryAdded', 'directory_added'],
  ['FileChanged', 'file_changed', undefined, 'event'],
  ['WorktreeCreate', 'worktree_created'],
  ['WorktreeRemove', 'worktree_removed'],
  ['TaskCreated', 'task_created'],
  ['TaskCompleted', 'task_completed'],
  ['TeammateIdle', 'teammate_idle'],
  ['Setup', 'setup', undefined, 'trigger'],
];

export const NOTICES: Readonly<Record<string, (payload: Payload) => RawDraft>> = Object.fromEntries(
  ROWS.map(([event, kind, textField, reasonField]) => [
    event,
    (payload: Payload): RawDraft => {
      const said = textField === undefined ? undefined : text(payload, textField);
      const reason = reasonField === undefined ? undefined : text(payload, reasonField);
      const told = [
        said === undefined ? [] : [textField ?? ''],
        reason === undefined ? [] : [reasonField ?? ''],
      ];
      return notice(
        kind,
        { ...(said === undefined ? {} : { text: asText(said) }), ...rest(payload, told.flat()) },
        {
          ...(reason === undefined ? {} : { reason }),
          ...names(payload, ['tool_name', 'tool_use_id']),
          ...(event.endsWith('ModelSwitch') ? model(payload) : {}),
        },
      );
    },
  ]),
);

function names(payload: Payload, fields: readonly string[]): RawDraft['fields'] {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = text(payload, field);
      return value === undefined ? [] : [[field, value]];
    }),
  );
}

/** The model switched to, under whichever of its names. */
function model(payload: Payload): RawDraft['fields'] {
  const to = text(payload, 'to_model') ?? text(payload, 'new_model') ?? text(payload, 'model');
  return to === undefined ? {} : { model: to };
}
