/** What `init claude-code` registers: which events, by which transport, with which timeouts. */
import { OFF_HEADER } from '../../producers/silence.ts';
import { shellLine } from './shell-line.ts';

/**
 * Every event of Claude Code that can be observed (2.1.332). Not among them: WorktreeCreate and WorktreeRemove,
 * where a hook takes the place of the harness's own work, and FileChanged, whose matcher makes the harness
 * watch files. Seconds. SessionEnd's is what raises the harness's budget of 1.5 s for it.
 */
export const EVENTS: Readonly<Record<string, number>> = {
  SessionStart: 10,
  InstructionsLoaded: 10,
  UserPromptSubmit: 10,
  UserPromptExpansion: 10,
  MessageDisplay: 10,
  PreToolUse: 10,
  PermissionRequest: 10,
  PermissionDenied: 10,
  PostToolUse: 10,
  PostToolUseFailure: 10,
  PostToolBatch: 10,
  PreSkillShellCommand: 10,
  SubagentStart: 10,
  SubagentStop: 10,
  Stop: 600,
  StopFailure: 10,
  PreCompact: 10,
  PostCompact: 10,
  PreModelSwitch: 10,
  PostModelSwitch: 10,
  Notification: 10,
  Elicitation: 10,
  ElicitationResult: 10,
  ConfigChange: 10,
  CwdChanged: 10,
  DirectoryAdded: 10,
  TaskCreated: 10,
  TaskCompleted: 10,
  TeammateIdle: 10,
  Setup: 10,
  SessionEnd: 10,
};

/** Over HTTP these stay commands: they start a collector that has died, and one of them decides. */
const ALWAYS_COMMAND: ReadonlySet<string> = new Set(['SessionStart', 'Stop', 'SessionEnd']);

/** A command reads it itself. */
export const OFF_VARIABLE = 'FLIPSTREAM_OFF';

interface CommandRegistration {
  transport: 'command';
  /** Absolute path of the Node that runs the hook, and of the hook. */
  node: string;
  hook: string;
  /** Where the hook keeps what it sees; without one it asks its environment. */
  home?: string;
}

interface HttpRegistration extends Omit<CommandRegistration, 'transport'> {
  transport: 'http';
  url: string;
  token: string;
}

export type Registration = CommandRegistration | HttpRegistration;

type Handler =
  | { type: 'command'; command: string; args?: string[]; timeout: number }
  | {
      type: 'http';
      url: string;
      headers: Record<string, string>;
      /** Variables that the harness may put into the headers. */
      allowedEnvVars: string[];
      timeout: number;
    };

export interface Group {
  hooks: Handler[];
}

/** The hooks to register, by event; each is one group without a matcher, so it hears every tool. */
export function hooksOf(registration: Registration, name: 'settings' | 'plugin'): Record<string, Group[]> {
  return Object.fromEntries(
    Object.entries(EVENTS).map(([event, timeout]) => [
      event,
      [{ hooks: [handlerOf(registration, event, timeout, name)] }],
    ]),
  );
}

function handlerOf(registration: Registration, event: string, timeout: number, name: string): Handler {
  if (registration.transport === 'http' && !ALWAYS_COMMAND.has(event))
    return {
      type: 'http',
      url: registration.url,
      headers: { Authorization: `Bearer ${registration.token}`, [OFF_HEADER]: `$${OFF_VARIABLE}` },
      allowedEnvVars: [OFF_VARIABLE],
      timeout,
    };
  const { node, hook, home } = registration;
  const args = hookArguments(hook, name, home);
  if (name === 'plugin') return { type: 'command', command: node, args, timeout };
  // One line and no `args`: GitHub Copilot CLI (1.0.102) runs what it finds in a project's .claude settings, knows no
  // `args`, and refuses every tool call when the bare program fails.
  return { type: 'command', command: shellLine([node, ...args]), timeout };
}

/** How Node runs the hook. It lives for milliseconds and needs none of V8's helper threads: without them it starts sooner. */
export function hookArguments(hook: string, name: string, home?: string): string[] {
  return ['--v8-pool-size=0', hook, '--registration', name, ...(home ? ['--home', home] : [])];
}

/** The plugin's hooks/hooks.json. */
export function pluginHooks(): { description: string; hooks: Record<string, Group[]> } {
  return {
    description: 'Records the session; the Stop hook asks the oracle.',
    hooks: hooksOf(
      { transport: 'command', node: 'node', hook: `\${CLAUDE_PLUGIN_ROOT}/dist/hook.cjs` },
      'plugin',
    ),
  };
}
