import { describe, expect, test } from 'vitest';
import type { RawDraft } from './adapter.ts';
import { chooseAdapter } from './choose.ts';
import { CLAUDE_CODE_EVENTS, claudeCode } from './claude-code.ts';
import type { Payload } from './payload.ts';

const EVENTS = `PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit
  UserPromptExpansion SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact
  PreModelSwitch PostModelSwitch PermissionRequest PermissionDenied Setup TeammateIdle TaskCreated TaskCompleted
  Elicitation ElicitationResult ConfigChange WorktreeCreate WorktreeRemove InstructionsLoaded CwdChanged FileChanged
  DirectoryAdded MessageDisplay PreSkillShellCommand`.split(/\s+/);

const BASE = { session_id: 's', transcript_path: '/t', cwd: '/repo', prompt_id: 'p' };
const context = { readRules: (path: string) => `rules of ${path}`, facts: { task_id: 't1' } };
const drafts = (event: string, fields: Payload = {}): RawDraft[] =>
  claudeCode.drafts({ ...BASE, hook_event_name: event, ...fields }, context);
const only = (event: string, fields: Payload = {}): RawDraft => {
  const [draft, ...more] = drafts(event, fields);
  expect(more).toEqual([]);
  if (!draft) throw new Error('no draft');
  return draft;
};

test('every one of the 34 events has a place', () => {
  expect([...CLAUDE_CODE_EVENTS].sort()).toEqual([...EVENTS].sort());
  for (const event of EVENTS) {
    const told = drafts(event, {
      tool_use_id: 't',
      message_id: 'm',
      index: 0,
      tool_calls: [{ tool_use_id: 't' }],
    });
    expect(told.length, event).toBeGreaterThan(0);
    for (const draft of told) expect(draft.fields.kind, event).not.toBe('unknown_event');
  }
});

test('an event of a newer harness is kept as it is, under unknown_event', () => {
  const draft = only('SomethingNew', { detail: 1 });
  expect(draft).toMatchObject({ type: 'notice', fields: { kind: 'unknown_event', prompt_id: 'p' } });
  expect(draft.content.input?.value).toEqual({ detail: 1 });
});

test('a session starts with its facts, is asked, and ends with the harness’s reason', () => {
  expect(only('SessionStart', { source: 'resume', model: 'm' })).toMatchObject({
    type: 'session_start',
    fields: { source: 'resume', model: 'm', cwd: '/repo', task_id: 't1' },
  });
  expect(only('UserPromptSubmit', { prompt: 'do it', source: 'sdk' })).toMatchObject({
    type: 'message',
    fields: { role: 'user', source: 'sdk' },
    content: { text: { value: 'do it', as: 'text' } },
  });
  expect(only('SessionEnd', { reason: 'clear' })).toMatchObject({
    type: 'session_end',
    fields: { reason: 'clear' },
  });
});

test('a message comes in pieces, joined by its id', () => {
  const piece = only('MessageDisplay', { message_id: 'm', index: 2, final: true, delta: 'x' });
  expect(piece).toMatchObject({ role: 'piece', own_id: 'm', index: 2, final: true, phase: 'piece 2' });
});

describe('C5 failed, denied and interrupted calls are events, with the exit code where one can be known', () => {
  const call = { tool_name: 'Bash', tool_input: { command: 'x' }, tool_use_id: 't', duration_ms: 7 };
  const ok = { stdout: 'out', stderr: '', interrupted: false };

  test.each([
    ['exit 3', 'PostToolUseFailure', { error: 'Exit code 3\nboom', is_interrupt: false }, 'error', 3],
    ['no exit code', 'PostToolUseFailure', { error: 'File does not exist' }, 'error', null],
    ['not at the start', 'PostToolUseFailure', { error: 'saw Exit code 3' }, 'error', null],
    ['interrupted', 'PostToolUseFailure', { error: 'stopped', is_interrupt: true }, 'interrupted', null],
    ['success', 'PostToolUse', { tool_response: ok }, 'ok', 0],
    [
      'grep finds nothing',
      'PostToolUse',
      { tool_response: { ...ok, returnCodeInterpretation: 'no match' } },
      'ok',
      null,
    ],
    ['in the background', 'PostToolUse', { tool_response: { ...ok, backgroundTaskId: 'b' } }, 'ok', null],
    ['cut short', 'PostToolUse', { tool_response: { ...ok, interrupted: true } }, 'interrupted', null],
    ['another tool', 'PostToolUse', { tool_name: 'Read', tool_response: { file: 1 } }, 'ok', null],
  ])('%s', (_name, event, fields, status, code) => {
    const draft = only(event, { ...call, ...fields });
    expect(draft).toMatchObject({ role: 'call_ended', type: 'tool_call', own_id: 't', phase: 'ended' });
    expect(draft.fields).toMatchObject({ status, exit_code: code, duration_ms: 7, tool_use_id: 't' });
  });

  test('denied', () => {
    const draft = only('PermissionDenied', { ...call, reason: 'policy' });
    expect(draft.fields).toMatchObject({ status: 'denied', reason: 'policy', tool_use_id: 't' });
  });

  test.each([
    ['Permission to use Bash with command rm x has been denied.', 'denied'],
    ["Claude requested permissions to use WebFetch, but you haven't granted it yet.", 'denied'],
    ['<tool_use_error>String to replace not found in file.</tool_use_error>', 'error'],
    ['Permission to use Bash was what the file spoke of', undefined],
  ])('what never ran has no hook of its own, but the model is shown: %s', (tool_response, status) => {
    const draft = only('PostToolBatch', { tool_calls: [{ ...call, tool_response }] });
    expect(draft.fields.status).toBe(status);
  });

  test('what the model saw is told beside it, by id', () => {
    const seen = drafts('PostToolBatch', {
      tool_calls: [
        { tool_use_id: 'a', tool_name: 'Bash', tool_response: 'Exit code 3' },
        { tool_use_id: 'b', tool_name: 'Read', tool_response: [{ type: 'text' }] },
      ],
    });
    expect(seen.map(({ role, own_id }) => [role, own_id])).toEqual([
      ['call_seen', 'a'],
      ['call_seen', 'b'],
    ]);
    expect(seen.map((draft) => draft.content.output?.as)).toEqual(['text', 'json']);
  });
});

test('C6 a subagent’s end is a notice with its last message, never the session’s end', () => {
  const told = drafts('SubagentStop', {
    agent_id: 'a1',
    agent_type: 'Explore',
    last_assistant_message: 'done',
  });
  expect(told.map(({ role, type, fields }) => [role, type, fields.kind])).toEqual([
    ['last_message', 'message', undefined],
    ['event', 'notice', 'subagent_stop'],
  ]);
  expect(told.every((draft) => draft.fields.agent_type === 'Explore')).toBe(true);
  expect(claudeCode.agentId({ ...BASE, agent_id: 'a1' })).toBe('a1');
});

test('C7 an error of the API ends the turn as a notice of its own, with its words; nobody is held at it', () => {
  const error = 'API Error: 400 boom boom';
  const told = { effort: { level: 'medium' }, error: 'unknown', last_assistant_message: error };
  const draft = only('StopFailure', told);
  expect(draft).toMatchObject({
    ...{ role: 'event', type: 'notice', kind: 'api_failure' },
    fields: { kind: 'api_failure', reason: 'unknown', prompt_id: 'p' },
    content: { text: { value: error, as: 'text' } },
  });
  expect(only('StopFailure', { ...told, error_details: 'boom' }).content.text?.value).toBe('boom');
  expect(claudeCode.moment({ ...BASE, hook_event_name: 'StopFailure', ...told })).toBeNull();
});

test('C11 compaction is itself an event, with its summary', () => {
  expect(only('PostCompact', { trigger: 'auto', compact_summary: 'so far' })).toMatchObject({
    type: 'notice',
    fields: { kind: 'compaction', reason: 'auto' },
    content: { text: { value: 'so far' } },
  });
});

test('a stop tells what the gate goes by', () => {
  const told = drafts('Stop', {
    permission_mode: 'plan',
    background_tasks: [{ id: 1 }],
    stop_hook_active: true,
  });
  expect(told).toHaveLength(1);
  expect(told[0]?.content.input?.value).toMatchObject({
    permission_mode: 'plan',
    background_tasks: [{ id: 1 }],
  });
});

test('rule files are read when they are loaded', () => {
  const draft = only('InstructionsLoaded', { file_path: '/repo/CLAUDE.md', memory_type: 'Project' });
  expect(draft.content.text?.value).toBe('rules of /repo/CLAUDE.md');
  expect(draft.content.input?.value).toEqual({ file_path: '/repo/CLAUDE.md', memory_type: 'Project' });
});

test('of a harness without an adapter the first name that says something is the session\u2019s', () => {
  const payload = { session_id: '', sessionID: 'one', event: 'done' };
  const adapter = chooseAdapter(payload);
  expect(adapter.harness).toBe('unknown');
  expect([adapter.sessionId(payload), adapter.event(payload)]).toEqual(['one', 'done']);
});

test('the payload tells whose it is, not the registration', () => {
  const harness = (fields: Payload) => chooseAdapter({ ...BASE, hook_event_name: 'Stop', ...fields }).harness;
  expect(harness({})).toBe('claude-code');
  expect(harness({ cursor_version: '1' })).toBe('cursor');
  expect(harness({ conversation_id: 'c' })).toBe('cursor');
  expect(harness({ turn_id: 't', model: 'm' })).toBe('codex');
  expect(harness({ transcript_path: '/home/x/.codex/sessions/rollout-1.jsonl' })).toBe('codex');
  expect(harness({ hook_event_name: 'MessageDisplay', turn_id: 't' })).toBe('claude-code');
  expect(harness({ timestamp: '2026' })).toBe('copilot');
  expect(harness({ timestamp: '2026', hook_event_name: 'AfterAgent' })).toBe('gemini');
  expect(chooseAdapter({ clineVersion: '3' }).harness).toBe('cline');
});
