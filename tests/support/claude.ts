/** Runs the real Claude Code binary of tests/harness with its own home and a scripted model. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BINARY = fileURLToPath(new URL('../harness/node_modules/.bin/claude', import.meta.url));

export interface ClaudeOptions {
  cwd: string;
  /** The harness's own home directory: its settings lie in `<home>/.claude`. */
  home: string;
  modelUrl: string;
  env: NodeJS.ProcessEnv;
  args?: readonly string[];
}

export interface ClaudeRun {
  child: ChildProcess;
  /** Resolves when the process is gone. */
  done: Promise<{ code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }>;
}

/** Starts `claude -p <prompt>`; nothing leaves the machine. */
export function startClaude(
  prompt: string,
  { cwd, home, modelUrl, env, args = [] }: ClaudeOptions,
): ClaudeRun {
  mkdirSync(join(home, '.claude'), { recursive: true });
  const child = spawn(
    BINARY,
    ['-p', prompt, '--allowedTools', 'Bash,Read,Edit,Write,Agent,Task', '--output-format', 'json', ...args],
    {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: env.PATH,
        TMPDIR: env.TMPDIR,
        HOME: home,
        FLIPSTREAM_HOME: env.FLIPSTREAM_HOME,
        ANTHROPIC_BASE_URL: modelUrl,
        ANTHROPIC_API_KEY: 'sk-ant-none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
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
  const done = new Promise<Awaited<ClaudeRun['done']>>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return { child, done };
}
