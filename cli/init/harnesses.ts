/** The harnesses beside Claude Code: which files register our hook, for which events, with which timeouts. */
import { join } from 'node:path';
import type { Home } from '../../producers/home.ts';
import type { Config } from '../config.ts';
import { hookCommand } from './hook-line.ts';
import { openCodePlugin } from './opencode-plugin.ts';
import type { Target } from './plan.ts';
import type { Entries } from './settings.ts';
import { shellLine } from './shell-line.ts';

export interface HarnessSetup {
  /** As `flipstream init` and the events name it. */
  name: string;
  title: string;
  /** Its program, looked for on the PATH. */
  program: string;
  /** Files that are to hold our hook. @param node absolute path of the Node that runs it */
  targets: (config: Pick<Config, 'home' | 'folders'>, node: string) => Target[];
  /** What the person still has to do. */
  after?: string;
}

/** Seconds that a hook is given; a stop waits for the oracle. */
const SECONDS = 10;
const STOP_SECONDS = 600;

const each = (
  events: readonly string[],
  seconds: Readonly<Record<string, number>>,
  entry: (seconds: number) => object,
): Record<string, readonly object[]> =>
  Object.fromEntries(events.map((event) => [event, [entry(seconds[event] ?? SECONDS)]]));

/** Codex gives these no more, and warns of more. */
const CODEX_END_SECONDS = 3;

const CODEX = [
  ...['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PermissionRequest', 'PostToolUse', 'PreCompact'],
  ...['PostCompact', 'SubagentStart', 'SubagentStop', 'Stop', 'Interrupt', 'SessionEnd'],
];

/** Not the hooks of each piece of an answer, which carry the whole conversation every time, nor PreCompress, which comes at every step. */
const GEMINI = [
  ...['SessionStart', 'BeforeAgent', 'BeforeModel', 'BeforeTool', 'AfterTool', 'AfterAgent', 'Notification'],
  ...['SessionEnd'],
];

/** Not those that tell a tool call a second time (beforeShellExecution, afterFileEdit, ...), nor completions. */
const CURSOR = [
  ...[
    'sessionStart',
    'beforeSubmitPrompt',
    'preToolUse',
    'postToolUse',
    'postToolUseFailure',
    'subagentStart',
  ],
  ...['subagentStop', 'afterAgentResponse', 'preCompact', 'stop', 'sessionEnd'],
];
/** More than the gate ever holds: it is the gate that lets go. */
const CURSOR_LOOPS = 20;

const COPILOT = [
  ...['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'Stop'],
  ...['SubagentStart', 'SubagentStop', 'PreCompact', 'ErrorOccurred', 'SessionEnd'],
];

const CLINE = [
  ...[
    'TaskStart',
    'TaskResume',
    'TaskCancel',
    'TaskComplete',
    'UserPromptSubmit',
    'PreToolUse',
    'PostToolUse',
  ],
  ...['PreCompact'],
];

const OPENHANDS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop', 'SessionEnd'];

/** Named after its harness: one that also runs Claude Code's registration tells each event by both (collector, ordinals). */
const line = (home: Home, node: string, harness: string) => shellLine(hookCommand(home, node, harness));

function inFile(file: string, hooks: Entries, fresh?: string): Target {
  return { kind: 'entries', file, hooks, ...(fresh === undefined ? {} : { fresh }) };
}

export const HARNESSES: readonly HarnessSetup[] = [
  {
    name: 'codex',
    title: 'Codex CLI',
    program: 'codex',
    targets: ({ home, folders }, node) => [
      inFile(
        join(folders.codex, 'hooks.json'),
        each(
          CODEX,
          { Stop: STOP_SECONDS, Interrupt: CODEX_END_SECONDS, SessionEnd: CODEX_END_SECONDS },
          (timeout) => ({
            hooks: [{ type: 'command', command: line(home, node, 'codex'), timeout }],
          }),
        ),
      ),
    ],
    after: 'Codex runs no hook that you have not trusted: start codex, open /hooks, and trust these.',
  },
  {
    name: 'opencode',
    title: 'OpenCode',
    program: 'opencode',
    targets: ({ home, folders }, node) => [
      {
        kind: 'whole',
        file: join(folders.opencode, 'plugins', 'flipstream.js'),
        text: openCodePlugin(hookCommand(home, node, 'plugin')),
      },
    ],
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    program: 'gemini',
    targets: ({ home, folders }, node) => [
      inFile(
        join(folders.gemini, 'settings.json'),
        // its timeouts are milliseconds
        each(GEMINI, { AfterAgent: STOP_SECONDS }, (seconds) => ({
          hooks: [
            {
              name: 'flipstream',
              type: 'command',
              command: line(home, node, 'gemini'),
              timeout: seconds * 1000,
            },
          ],
        })),
      ),
    ],
  },
  {
    name: 'cursor',
    title: 'Cursor',
    program: 'cursor-agent',
    targets: ({ home, folders }, node) => [
      inFile(
        join(folders.cursor, 'hooks.json'),
        each(CURSOR, { stop: STOP_SECONDS }, (timeout) => ({
          command: line(home, node, 'cursor'),
          timeout,
          ...(timeout === STOP_SECONDS ? { loop_limit: CURSOR_LOOPS } : {}),
        })),
        '{\n  "version": 1\n}\n',
      ),
    ],
    after:
      'Its command line runs no stop hook: start it with flipstream run -- cursor-agent -p "…" to be graded.',
  },
  {
    name: 'copilot',
    title: 'GitHub Copilot CLI',
    program: 'copilot',
    targets: ({ home, folders }, node) => {
      const hooks = each(COPILOT, { Stop: STOP_SECONDS }, (timeoutSec) => ({
        type: 'command',
        bash: line(home, node, 'copilot'),
        timeoutSec,
      }));
      return [
        {
          kind: 'whole',
          file: join(folders.copilot, 'hooks', 'flipstream.json'),
          text: `${JSON.stringify({ version: 1, hooks }, null, 2)}\n`,
        },
      ];
    },
  },
  {
    name: 'cline',
    title: 'Cline',
    program: 'cline',
    targets: ({ home, folders }, node) =>
      CLINE.map((event) => ({
        kind: 'whole',
        file: join(folders.cline, 'hooks', event),
        text: `#!/bin/sh\n# flipstream: records the session.\n${line(home, node, 'cline')} && echo '{"cancel":false}'\n`,
        executable: true,
      })),
    after:
      'Turn hooks on in Cline’s settings. Nothing of Cline’s can hold it: start it with flipstream run -- cline "…" to be graded.',
  },
  {
    name: 'openhands',
    title: 'OpenHands',
    program: 'openhands',
    targets: ({ home, folders }, node) => [
      inFile(
        join(folders.openhands, 'hooks.json'),
        each(OPENHANDS, { Stop: STOP_SECONDS }, (timeout) => ({
          matcher: '*',
          hooks: [{ type: 'command', command: line(home, node, 'openhands'), timeout }],
        })),
      ),
    ],
    after: 'A project with an .openhands/hooks.json of its own does not read this one.',
  },
];
