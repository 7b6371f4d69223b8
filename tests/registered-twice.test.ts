/** C4 for the harnesses that also run Claude Code's registration: both as `init` writes them, the real hook, a collector, an oracle that counts. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { loadConfig } from '../cli/config.ts';
import { HARNESSES } from '../cli/init/harnesses.ts';
import { sandbox } from '../cli/testing.ts';
import { ADAPTERS } from '../producers/adapters/choose.ts';
import { payloadsOf } from '../producers/adapters/sample-payloads.ts';
import { type CaptureContext, capture } from '../producers/capture.ts';
import { startCollector } from '../producers/collector/collector.ts';
import { ask, assembleAll, memoryLog, T0 } from '../producers/collector/testing.ts';
import { repository } from '../producers/git/testing.ts';
import { layout } from '../producers/home.ts';
import { BLOCK_REASON } from '../schemas/block-reason.ts';
import { sha256 } from '../schemas/hash.ts';
import { ran, standInOracle } from './support/hook-host.ts';

const Command = z.looseObject({ command: z.string().optional(), bash: z.string().optional() });
/** A line and no `args`, which these harnesses do not know. */
const Claude = z.looseObject({
  hooks: z.record(
    z.string(),
    z.array(
      z.object({
        hooks: z.array(z.strictObject({ type: z.string(), command: z.string(), timeout: z.number() })),
      }),
    ),
  ),
});
const Own = z.looseObject({ hooks: z.record(z.string(), z.array(Command)) });

interface Event {
  /** Its name where the harness itself is registered with, and in Claude Code's settings. */
  own: string;
  claude: string;
  fields: object;
}

/** A turn that is held, and a second one that is held too. */
const at = (second: number) => new Date(Date.UTC(2026, 10, 29, 12, 0, second)).toISOString();
const cursorBase = (cwd: string, turn: number) => ({
  ...{ conversation_id: 's1', generation_id: `g${turn}`, model: 'm', cursor_version: '3.7.21' },
  ...{ workspace_roots: [cwd], user_email: null, transcript_path: null },
});
const call = { tool_name: 'Shell', tool_input: { command: 'ls' }, tool_use_id: 'call_1\nfc_1' };

const PLAYS: Readonly<Record<string, (cwd: string) => readonly (readonly Event[])[]>> = {
  cursor(cwd) {
    const event = (turn: number, own: string, claude: string, fields: object = {}): Event => ({
      ...{ own, claude },
      fields: { ...cursorBase(cwd, turn), ...fields },
    });
    const stop = (turn: number) => event(turn, 'stop', 'Stop', { status: 'completed', loop_count: turn - 1 });
    return [
      [
        event(1, 'sessionStart', 'SessionStart', { session_id: 's1' }),
        event(1, 'beforeSubmitPrompt', 'UserPromptSubmit', { prompt: 'fix it', attachments: [] }),
        event(1, 'preToolUse', 'PreToolUse', call),
        event(1, 'postToolUse', 'PostToolUse', { ...call, tool_output: '{"exitCode":0}', duration: 3 }),
        stop(1),
      ],
      [
        event(2, 'beforeSubmitPrompt', 'UserPromptSubmit', { prompt: BLOCK_REASON, attachments: [] }),
        stop(2),
        event(2, 'sessionEnd', 'SessionEnd', { session_id: 's1', reason: 'completed' }),
      ],
    ];
  },
  copilot(cwd) {
    let second = 0;
    const event = (name: string, fields: object = {}): Event => ({
      ...{ own: name, claude: name },
      fields: { session_id: 's1', timestamp: at(second++), cwd, ...fields },
    });
    const used = { tool_name: 'bash', tool_input: { command: 'ls' } };
    const result = { result_type: 'success', text_result_for_llm: 'a.txt' };
    const stop = () => event('Stop', { stop_reason: 'end_turn', transcript_path: '/t' });
    return [
      [
        event('SessionStart', { source: 'new' }),
        event('UserPromptSubmit', { prompt: 'fix it' }),
        event('PreToolUse', used),
        event('PostToolUse', { ...used, tool_result: result }),
        stop(),
      ],
      [
        event('UserPromptSubmit', { prompt: BLOCK_REASON }),
        stop(),
        event('SessionEnd', { reason: 'complete' }),
      ],
    ];
  },
};

test.each(Object.keys(PLAYS))(
  'C4 %s and Claude Code both registered: each event once, each stop graded once, under the right harness',
  async (harness) => {
    const box = sandbox();
    onTestFinished(box.remove);
    box.env.HOME = join(box.root, 'user');
    const { dir, base } = repository(box.root);
    mkdirSync(join(dir, '.flipstream'));
    writeFileSync(
      join(dir, '.flipstream', 'config.json'),
      JSON.stringify({ task_id: 't', base_commit: base }),
    );
    const settings = join(dir, '.claude', 'settings.json');
    for (const argv of [['claude-code', '--settings', settings], [harness]])
      expect((await box.flipstream(['init', ...argv, '--yes'])).code).toBe(0);

    const { asked, url } = await standInOracle(['FAIL', 'FAIL', 'PASS']);
    const home = layout(join(box.root, 'home'));
    writeFileSync(home.config, '{"v":1}'); // no hook is to start a collector of its own
    const log = memoryLog();
    const collector = await startCollector({
      ...{ home, log, clock: Date.now, settings: { v: 1, oracle: { url, token: 't' } }, warn: () => {} },
    });
    onTestFinished(() => collector.stop());

    const setup = HARNESSES.find(({ name }) => name === harness);
    const [target] = setup?.targets(loadConfig(box.env, {}, dir), process.execPath) ?? [];
    const own = Own.parse(JSON.parse(readFileSync(target?.file ?? '', 'utf8'))).hooks;
    const claude = Claude.parse(JSON.parse(readFileSync(settings, 'utf8'))).hooks;
    const hooks = (event: Event) => {
      const [mine] = own[event.own] ?? [];
      const theirs = claude[event.claude]?.[0]?.hooks[0];
      if (!mine || !theirs) throw new Error(`${event.own} is not registered twice`);
      const env = { ...box.env, HOME: join(box.root, 'user') };
      const shell = (line = '') => ['/bin/sh', '-c', line];
      return [
        () =>
          ran(shell(mine.command ?? mine.bash), { hook_event_name: event.own, ...event.fields }, dir, env),
        () => ran(shell(theirs.command), { hook_event_name: event.claude, ...event.fields }, dir, env),
      ];
    };

    const [first = [], second = []] = PLAYS[harness]?.(dir) ?? [];
    // a harness may run the hooks of one event at once ...
    const printed: string[][] = [];
    for (const event of first) printed.push(await Promise.all(hooks(event).map((hook) => hook())));
    // ... or one after the other, the second when the first has its answer
    for (const event of second) {
      const said: string[] = [];
      for (const hook of hooks(event)) said.push(await hook());
      printed.push(said);
    }
    expect(await ask(home, '/drain', {})).toEqual({ drained: true });

    const block = JSON.stringify({ decision: 'block', reason: BLOCK_REASON });
    const held = harness === 'cursor' ? JSON.stringify({ followup_message: BLOCK_REASON }) : block;
    expect(printed.filter((said) => said.join('') !== '')).toEqual([
      [held, block],
      [held, block],
    ]);
    expect(asked).toHaveLength(2);
    expect(new Set(log.events.map((event) => event.harness))).toEqual(new Set([harness]));
    expect(log.events.map(({ type, kind, role }) => kind ?? role ?? type)).toEqual([
      ...['session_start', 'user', 'call_started', 'tool_call', 'stop', 'grade_requested', 'oracle_verdict'],
      ...['held', 'stop', 'grade_requested', 'oracle_verdict', 'session_end'],
    ]);
  },
  // some thirty hooks are processes
  120_000,
);

const context = (registration: string, ms: number): CaptureContext => ({
  hash: (data) => sha256(data),
  limit: 65_536,
  clock: () => ms,
  ...{ registration, transport: 'command', openKeys: { isOpen: () => false, set: () => {} } },
  ...{ readRules: () => 'rules', silenced: () => false },
});

test.each(ADAPTERS.map(({ harness }) => harness))(
  'C4 %s: what two registrations tell is what one tells',
  (harness) => {
    const payloads = payloadsOf(harness).map((payload) => JSON.stringify(payload));
    const told = (registrations: readonly string[]) =>
      assembleAll(
        payloads.flatMap((payload, n) =>
          registrations.flatMap((name) => capture(payload, context(name, T0 + n)) ?? []),
        ),
      ).events.map(({ event_id }) => event_id);
    const once = told(['settings']);
    expect(once.length).toBeGreaterThan(5);
    expect(told(['settings', harness])).toEqual(once);
  },
);
