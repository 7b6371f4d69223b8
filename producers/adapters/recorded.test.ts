/**
 * Every adapter over payloads of its harness (recorded/*.jsonl): recorded from the real release where the table of
 * capabilities names one, else written after the harness's documentation.
 */
import { existsSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CAPABILITIES, type Capability, HARNESS_CAPABILITIES } from '../../schemas/harness-capabilities.ts';
import { hear, versionIn } from '../capture.ts';
import type { Adapter, RawDraft } from './adapter.ts';
import { ADAPTERS, chooseAdapter } from './choose.ts';
import { harnessPayloads } from './fuzz.ts';
import { asPayload, type Payload } from './payload.ts';
import { toolKind } from './tool-kind.ts';

const context = { readRules: () => 'rules', facts: {} };

function recorded(harness: string): Payload[] {
  const file = new URL(`recorded/${harness}.jsonl`, import.meta.url);
  if (!existsSync(file)) throw new Error(`no payloads of ${harness}`);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  return lines.map((line) => asPayload(JSON.parse(line)) ?? {});
}

function told(adapter: Adapter, payload: Payload): RawDraft[] {
  return adapter.drafts(payload, context);
}

const calls = (draft: RawDraft) => /^call_/.test(draft.role) || draft.type === 'tool_call';

/** Whether anything that the adapter makes of the payloads shows a capability. */
const SHOWS: Readonly<
  Record<Exclude<Capability, 'stop_refusal' | 'subagents'>, (draft: RawDraft) => boolean>
> = {
  prompt: ({ type, fields }) => type === 'message' && fields.role === 'user',
  assistant_text: ({ type, fields }) => type === 'message' && fields.role === 'assistant',
  tool_input: (draft) => calls(draft) && draft.content.input !== undefined,
  tool_output: (draft) => calls(draft) && (draft.content.output ?? draft.content.result) !== undefined,
  tool_failure: (draft) => calls(draft) && draft.fields.status === 'error',
  exit_code: ({ fields }) => typeof fields.exit_code === 'number',
  duration: (draft) => calls(draft) && typeof draft.fields.duration_ms === 'number',
  model: ({ fields }) => typeof fields.model === 'string',
  tokens: ({ fields }) => fields.kind === 'usage',
  session_end: ({ type }) => type === 'session_end',
};

function given(adapter: Adapter, payloads: readonly Payload[], name: Capability): boolean {
  if (name === 'stop_refusal') return payloads.some((payload) => adapter.moment(payload) === 'stop');
  if (name === 'subagents')
    return payloads.some(
      (payload) =>
        adapter.agentId(payload) !== undefined ||
        told(adapter, payload).some(({ fields }) => String(fields.kind).startsWith('subagent_')),
    );
  return payloads.some((payload) => told(adapter, payload).some(SHOWS[name]));
}

describe.each(ADAPTERS.map((adapter) => [adapter.harness, adapter] as const))('%s', (harness, adapter) => {
  const payloads = recorded(harness);

  test('its payloads are its own, and each is known', () => {
    for (const payload of payloads) {
      const event = adapter.event(payload);
      expect(chooseAdapter(payload).harness, event).toBe(harness);
      expect(adapter.sessionId(payload), event).toMatch(/./);
      const drafts = told(adapter, payload);
      expect(drafts.length, event).toBeGreaterThan(0);
      for (const { fields } of drafts) expect(fields.kind, event).not.toBe('unknown_event');
    }
    expect(payloads.filter((payload) => adapter.moment(payload) === 'start').length).toBeGreaterThan(0);
  });

  test('it tells what the table of capabilities says, and nothing more', () => {
    const table = HARNESS_CAPABILITIES.find((row) => row.harness === harness);
    const said = Object.fromEntries(CAPABILITIES.map((name) => [name, table?.gives[name] !== 'no']));
    expect(Object.fromEntries(CAPABILITIES.map((name) => [name, given(adapter, payloads, name)]))).toEqual(
      said,
    );
  });
});

test('every harness of the table has an adapter, in the same order', () => {
  expect(ADAPTERS.map(({ harness }) => harness)).toEqual(HARNESS_CAPABILITIES.map(({ harness }) => harness));
});

test('C9 2,000 payloads with something wrong in them: every adapter makes drafts of them', () => {
  for (const payload of fc.sample(harnessPayloads(), { numRuns: 2_000, seed: 5 })) {
    const heard = hear(payload);
    if (!heard.payload || !heard.adapter) continue;
    expect(heard.adapter.drafts(heard.payload, context).length).toBeGreaterThan(0);
    expect(['start', 'stop', 'end', null]).toContain(heard.adapter.moment(heard.payload));
  }
});

test('the harness’s release, as it says in its hooks’ environment, is the harness’s own alone', () => {
  expect(versionIn('claude-code_2-1-332_harness', 'claude-code')).toBe('2.1.332');
  expect(versionIn('claude-code_2-1-332_harness', 'codex')).toBeUndefined();
  for (const none of [undefined, '', 'claude-code', 'claude-code_2-1-332', 'claude-code_x_harness', '__'])
    expect(versionIn(none, 'claude-code')).toBeUndefined();
});

test.each([
  ...[
    ['Bash', 'shell'],
    ['exec_command', 'shell'],
    ['run_shell_command', 'shell'],
    ['Shell', 'shell'],
  ],
  ...[
    ['execute_command', 'shell'],
    ['terminal', 'shell'],
    ['Read', 'read'],
    ['view', 'read'],
    ['apply_patch', 'edit'],
  ],
  ...[
    ['str_replace_editor', 'edit'],
    ['write_to_file', 'write'],
    ['create', 'write'],
    ['grep_search', 'search'],
  ],
  ...[
    ['web_fetch', 'fetch'],
    ['google_web_search', 'fetch'],
    ['TodoWrite', 'plan'],
    ['update_plan', 'plan'],
  ],
  ...[
    ['Task', 'agent'],
    ['Agent', 'agent'],
    ['mcp__jira__search', 'mcp'],
    ['MCP:search', 'mcp'],
  ],
  ...[
    ['use_mcp_tool', 'mcp'],
    ['SomethingNew', 'other'],
    ['', 'other'],
    ['_', 'other'],
    ['edit read', 'other'],
  ],
])('the tool %s is of the kind %s', (name, kind) => {
  expect(toolKind(name)).toBe(kind);
});
