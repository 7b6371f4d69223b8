/** Every adapter over payloads of its harness (sample-payloads.ts says which are recorded and which are written). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HARNESS_CAPABILITIES } from '../../schemas/harness-capabilities.ts';
import { hear, kindOf, versionIn } from '../capture.ts';
import type { Adapter, RawDraft } from './adapter.ts';
import { ADAPTERS, chooseAdapter } from './choose.ts';
import { copilot } from './copilot.ts';
import { harnessPayloads } from './fuzz.ts';
import type { Payload } from './payload.ts';
import { payloadsOf, recordedOf } from './sample-payloads.ts';
import { toolKind } from './tool-kind.ts';

const context = { readRules: () => 'rules', facts: {} };

function told(adapter: Adapter, payload: Payload): RawDraft[] {
  return adapter.drafts(payload, context);
}

describe.each(ADAPTERS.map((adapter) => [adapter.harness, adapter] as const))('%s', (harness, adapter) => {
  const payloads = payloadsOf(harness);

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

  test('a session of the release that the table names was recorded, and of no other', () => {
    const tested = HARNESS_CAPABILITIES.find((row) => row.harness === harness)?.tested ?? null;
    const moments = new Set(recordedOf(harness).map((payload) => adapter.moment(payload)));
    expect([...moments].sort()).toEqual(tested === null ? [] : ['end', 'start', 'stop', null].sort());
    for (const payload of recordedOf(harness))
      expect([undefined, tested]).toContain(adapter.version?.(payload));
  });
});

test.each(['claude-code', 'codex', 'opencode', 'gemini', 'copilot'])(
  'what %s recorded, of subagents too, lies under a session that was told to begin',
  (harness) => {
    const adapter = ADAPTERS.find((one) => one.harness === harness);
    if (!adapter) throw new Error(`no adapter of ${harness}`);
    const idOf = (payload: Payload) => adapter.sessionId(payload);
    const begun = recordedOf(harness).filter((payload) => adapter.moment(payload) === 'start');
    expect(new Set(recordedOf(harness).map(idOf))).toEqual(new Set(begun.map(idOf)));
    const calls = recordedOf(harness).filter((payload) =>
      told(adapter, payload).some(({ role }) => role === 'call_ended'),
    );
    const agents = new Set(calls.map((payload) => adapter.agentId(payload)));
    // Claude Code's subagents: tests/real/claude-sessions.test.ts; Gemini does not tell them apart
    expect(agents.size > 1).toBe(['codex', 'opencode', 'copilot'].includes(harness));
  },
);

test.each(['opencode', 'gemini', 'copilot'])(
  'what an MCP server answers %s, good and bad, is told with its text, as a call of the kind mcp',
  (harness) => {
    const ends = recordedOf(harness).flatMap((payload) => {
      const { adapter = null } = hear(JSON.stringify(payload));
      return adapter ? told(adapter, payload) : [];
    });
    const calls = ends.filter(
      ({ role, fields }) => role === 'call_ended' && /look-up$/.test(String(fields.tool_name)),
    );
    expect(calls.map(({ fields }) => fields.status)).toEqual(['ok', 'error']);
    for (const { fields } of calls) expect(kindOf(fields.tool_name, harness)).toEqual({ tool_kind: 'mcp' });
    const [good, bad] = calls.map(({ content }) => JSON.stringify(content.output ?? content.result));
    expect(good).toContain('found');
    expect(bad).toContain('no such page');
  },
);

test('a subagent of Copilot, whose hooks name it as their session, is its parent’s, and its stop asks nothing', () => {
  const ofAgents = recordedOf('copilot').filter((payload) => copilot.agentId(payload) !== undefined);
  const sessions = new Set(recordedOf('copilot').map((payload) => copilot.sessionId(payload)));
  expect(sessions.size).toBe(3);
  for (const payload of ofAgents) expect(sessions).not.toContain(copilot.agentId(payload));
  const names = ofAgents.slice(0, 6).map((payload) => copilot.event(payload));
  const all = ['SubagentStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop', 'SubagentStop'];
  expect(names).toEqual(all);
  const kinds = ofAgents.slice(4, 6).flatMap((payload) => told(copilot, payload));
  expect(kinds.map(({ role, fields }) => [fields.kind ?? role, fields.agent_type])).toEqual([
    ['agent_stop', 'explore'],
    ['last_message', 'explore'],
    ['subagent_stop', 'explore'],
  ]);
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
    ['ListMcpResourcesTool', 'mcp'],
    ['ReadMcpResourceTool', 'mcp'],
    ['list_mcp_resources', 'mcp'],
    ['read_mcp_resource', 'mcp'],
    ['codebase_investigator', 'agent'],
    ['invoke_agent', 'agent'],
    ['context7_resolve-library-id', 'other'],
    ['SomethingNew', 'other'],
    ['', 'other'],
    ['_', 'other'],
    ['edit read', 'other'],
  ],
])('the tool %s is of the kind %s', (name, kind) => {
  expect(toolKind(name)).toBe(kind);
});

test.each([
  ['context7_resolve-library-id', 'mcp'],
  ['apply_patch', 'edit'],
  ['plan_exit', 'plan'],
  ['_odd', 'other'],
  ['skill', 'other'],
])('OpenCode’s tool %s is of the kind %s', (name, kind) => {
  expect(kindOf(name, 'opencode')).toEqual({ tool_kind: kind });
});

test.each([
  ['docs-look-up', 'mcp'],
  ['docs/look-up', 'mcp'],
  ['read_bash', 'shell'],
  ['fetch_copilot_cli_documentation', 'other'],
  ['-odd', 'other'],
])('Copilot’s tool %s is of the kind %s', (name, kind) => {
  expect(kindOf(name, 'copilot')).toEqual({ tool_kind: kind });
});
