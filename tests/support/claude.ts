/** Runs the real Claude Code binary of tests/harness with its own home and a scripted model. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const BINARY = fileURLToPath(new URL('../harness/node_modules/.bin/claude', import.meta.url));

export interface ClaudeOptions {
  cwd: string;
  /** The harness's own home directory: its settings lie in `<home>/.claude`. */
  home: string;
  modelUrl: string;
  env: NodeJS.ProcessEnv;
  args?: readonly string[];
}

export interface ClaudeEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface ClaudeRun {
  child: ChildProcess;
  /** Resolves when the process is gone. */
  done: Promise<ClaudeEnd>;
}

/** Tools that an agent may use without being asked; any other is denied, since nobody is there to ask. */
export const ALLOWED_TOOLS = 'Bash,Read,Edit,Write,Agent,Task';

/** Starts `claude -p <prompt>`; nothing leaves the machine. */
export function startClaude(
  prompt: string,
  { cwd, home, modelUrl, env, args = [] }: ClaudeOptions,
): ClaudeRun {
  mkdirSync(join(home, '.claude'), { recursive: true });
  const child = spawn(
    BINARY,
    ['-p', prompt, '--allowedTools', ALLOWED_TOOLS, '--output-format', 'json', ...args],
    {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...environment(home, env), ANTHROPIC_BASE_URL: modelUrl },
    },
  );
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const done = new Promise<ClaudeEnd>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, done };
}

/** Runs a subcommand (`plugin install ...`) to its end. @throws with what it said when it fails */
export async function claudeCommand(
  args: readonly string[],
  { home, env, cwd }: Omit<ClaudeOptions, 'modelUrl'>,
): Promise<void> {
  mkdirSync(join(home, '.claude'), { recursive: true });
  // an address that refuses at once: otherwise it looks for its maker's host, and without a network waits long
  const closed = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' };
  await promisify(execFile)(BINARY, args, { cwd, env: { ...environment(home, env), ...closed } });
}

/** Of ours only what the hooks need; nothing of an outer session. */
export function environment(home: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return {
    PATH: env.PATH,
    TMPDIR: env.TMPDIR,
    HOME: home,
    FLIPSTREAM_HOME: env.FLIPSTREAM_HOME,
    ...(env.FLIPSTREAM_OFF === undefined ? {} : { FLIPSTREAM_OFF: env.FLIPSTREAM_OFF }),
    ANTHROPIC_API_KEY: 'sk-ant-none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  };
}
