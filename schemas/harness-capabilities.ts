/**
 * What each harness tells us, by its hooks alone: the table behind docs/reference/harnesses.md, `flipstream harnesses` and
 * the view `harness_capabilities`, so that a query can tell "the harness does not say" from "it did not happen".
 * producers/adapters/capabilities.test.ts holds it against what the adapters make of payloads.
 */

export const CAPABILITIES = [
  'prompt',
  'assistant_text',
  'tool_input',
  'tool_output',
  'tool_failure',
  'exit_code',
  'duration',
  'subagents',
  'model',
  'tokens',
  'stop_refusal',
  'session_end',
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** `partly`: not always, or not all of it; the note says when. */
export type Given = 'yes' | 'partly' | 'no';

export interface HarnessCapabilities {
  harness: string;
  title: string;
  /** Release that tests drive and payloads were recorded from; null: by payloads written to its documentation, not measured. */
  tested: string | null;
  gives: Readonly<Record<Capability, Given>>;
  notes: Readonly<Partial<Record<Capability, string>>>;
}

/** `yes` for all but the named ones. */
function gives(but: Readonly<Partial<Record<Capability, Given>>>): Readonly<Record<Capability, Given>> {
  const all: Record<Capability, Given> = {
    prompt: 'yes',
    assistant_text: 'yes',
    tool_input: 'yes',
    tool_output: 'yes',
    tool_failure: 'yes',
    exit_code: 'yes',
    duration: 'yes',
    subagents: 'yes',
    model: 'yes',
    tokens: 'yes',
    stop_refusal: 'yes',
    session_end: 'yes',
  };
  return { ...all, ...but };
}

export const HARNESS_CAPABILITIES: readonly HarnessCapabilities[] = [
  {
    harness: 'claude-code',
    title: 'Claude Code',
    tested: '2.1.332',
    gives: gives({ exit_code: 'partly', model: 'partly', tokens: 'no', session_end: 'partly' }),
    notes: {
      model: 'not in print mode',
      exit_code: 'of commands that failed, or ended with 0',
      session_end: 'not when it is killed; then it is concluded after an hour',
    },
  },
  {
    harness: 'codex',
    title: 'Codex CLI',
    tested: '0.171.0',
    gives: gives({
      assistant_text: 'partly',
      tool_output: 'partly',
      tool_failure: 'no',
      exit_code: 'no',
      duration: 'no',
      tokens: 'no',
    }),
    notes: {
      assistant_text: 'the last message of a turn, not what was said between calls',
      tool_output:
        'of a command without the lines that the model is shown before it; nothing of a call that fails otherwise',
      tool_failure: 'a failed command is told like any other: its status is null',
    },
  },
  {
    harness: 'opencode',
    title: 'OpenCode',
    tested: '1.18.33',
    gives: gives({ stop_refusal: 'partly' }),
    notes: {
      duration: 'measured by our plugin, with the time that it waited for a permission',
      stop_refusal: 'by a follow-up prompt in the same session',
    },
  },
  {
    harness: 'gemini',
    title: 'Gemini CLI',
    tested: '0.61.0',
    gives: gives({
      assistant_text: 'partly',
      exit_code: 'partly',
      duration: 'no',
      subagents: 'no',
      tokens: 'no',
    }),
    notes: {
      assistant_text: 'all that was said in a turn as one message, at its end',
      exit_code: 'when it is not 0',
      subagents: 'their calls are the session’s own',
    },
  },
  {
    harness: 'cursor',
    title: 'Cursor',
    tested: null,
    gives: gives({
      prompt: 'partly',
      assistant_text: 'partly',
      exit_code: 'partly',
      subagents: 'partly',
      tokens: 'no',
      stop_refusal: 'partly',
    }),
    notes: {
      prompt: 'not on its command line',
      assistant_text: 'not on its command line',
      exit_code: 'of commands that ended, and that it does not tell as failed',
      subagents: 'that one began and ended, not which calls are its own',
      stop_refusal: 'by a follow-up prompt; not on its command line: flipstream run',
    },
  },
  {
    harness: 'copilot',
    title: 'GitHub Copilot CLI',
    tested: '1.0.102',
    gives: gives({ assistant_text: 'no', duration: 'no', model: 'no', tokens: 'no' }),
    notes: { exit_code: 'of commands that ended' },
  },
  {
    harness: 'cline',
    title: 'Cline',
    tested: null,
    gives: gives({
      assistant_text: 'no',
      exit_code: 'no',
      subagents: 'no',
      tokens: 'no',
      stop_refusal: 'no',
    }),
    notes: { stop_refusal: 'flipstream run grades in its place' },
  },
  {
    harness: 'openhands',
    title: 'OpenHands',
    tested: null,
    gives: gives({ assistant_text: 'no', duration: 'no', subagents: 'no', model: 'no', tokens: 'no' }),
    notes: { exit_code: 'of commands that ended' },
  },
];

/** Harnesses whose files are imported. What a file holds is its format's affair: of these sessions nothing is said here. */
export const IMPORTED_HARNESSES: readonly string[] = [
  ...['claude-code', 'codex', 'opencode', 'gemini', 'openhands'],
  ...['swe-agent', 'mini-swe-agent', 'shepherd', 'openai'],
];
