/** Stands in for a harness: sends real payloads to the real hook executable and runs real tools. Only the model's words are scripted. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Home } from '../../producers/home.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { parseJson } from '../../schemas/parse-json.ts';
import { hookArguments } from '../init/registration.ts';

type ToolCall =
  | { name: 'Bash'; input: { command: string } }
  | { name: 'Read'; input: { file_path: string } }
  | { name: 'Edit'; input: { file_path: string; old_string: string; new_string: string } };

export interface Step {
  says: string;
  calls: ToolCall[];
}

const Block = z.object({ decision: z.literal('block'), reason: z.string() });

export interface Harness {
  sessionId: string;
  start(model: string): Promise<void>;
  prompt(text: string): Promise<void>;
  step(step: Step): Promise<void>;
  /** The agent wants to stop. @returns the reason it may not, or null. */
  stop(says: string): Promise<string | null>;
  end(): Promise<void>;
}

/** @param env environment of the hook, with FLIPSTREAM_HOME */
export function createHarness(home: Home, cwd: string, env: NodeJS.ProcessEnv): Harness {
  const sessionId = randomUUID();
  const base = {
    session_id: sessionId,
    transcript_path: join(cwd, 'none.jsonl'),
    cwd,
    permission_mode: 'default',
  };
  let prompt_id: string | undefined;
  let calls = 0;

  const hook = async (hook_event_name: string, fields: object = {}) => {
    const stdin = JSON.stringify({ ...base, prompt_id, hook_event_name, ...fields });
    const ran = await run(process.execPath, hookArguments(home.hook, 'settings'), { cwd, env, stdin });
    if (ran.code === 0) return ran;
    throw new FlipstreamError(
      'demo_hook',
      'fatal',
      `The hook ${home.hook} ended with ${ran.code} at ${hook_event_name}: ${ran.stderr.slice(0, 500)}`,
    );
  };
  const display = (delta: string) =>
    hook('MessageDisplay', { turn_id: prompt_id, message_id: randomUUID(), index: 0, final: true, delta });

  async function call(tool: ToolCall): Promise<object> {
    const told = { tool_name: tool.name, tool_input: tool.input, tool_use_id: `toolu_demo_${++calls}` };
    await hook('PreToolUse', told);
    const started = performance.now();
    const { ok, seen, response } = await use(tool, cwd, env);
    const duration_ms = Math.round(performance.now() - started);
    await (ok
      ? hook('PostToolUse', { ...told, tool_response: response, duration_ms })
      : hook('PostToolUseFailure', { ...told, error: seen, duration_ms }));
    return { ...told, tool_response: seen };
  }

  return {
    sessionId,
    start: async (model) => void (await hook('SessionStart', { source: 'startup', model })),
    prompt: async (prompt) => {
      prompt_id = randomUUID();
      await hook('UserPromptSubmit', { prompt });
    },
    step: async ({ says, calls: wanted }) => {
      await display(says);
      const tool_calls = [];
      for (const one of wanted) tool_calls.push(await call(one));
      await hook('PostToolBatch', { tool_calls });
    },
    stop: async (says) => {
      await display(says);
      const { stdout } = await hook('Stop', {
        stop_hook_active: false,
        last_assistant_message: says,
        background_tasks: [],
      });
      return stdout === '' ? null : Block.parse(parseJson(stdout)).reason;
    },
    end: async () => void (await hook('SessionEnd', { reason: 'other' })),
  };
}

interface Used {
  ok: boolean;
  /** As the model is shown it. */
  seen: string;
  /** The harness's structured result. */
  response: unknown;
}

async function use(call: ToolCall, cwd: string, env: NodeJS.ProcessEnv): Promise<Used> {
  if (call.name === 'Bash') {
    const { code, stdout, stderr } = await run('/bin/sh', ['-c', call.input.command], { cwd, env });
    const seen = `${stdout}${stderr}`.trimEnd();
    return {
      ok: code === 0,
      seen: code === 0 ? seen : `Exit code ${code}\n${seen}`,
      response: { stdout, stderr, interrupted: false },
    };
  }
  const path = call.input.file_path;
  const content = readFileSync(path, 'utf8');
  if (call.name === 'Read')
    return { ok: true, seen: content, response: { type: 'text', file: { filePath: path, content } } };
  writeFileSync(
    path,
    content.replace(call.input.old_string, () => call.input.new_string),
  );
  return { ok: true, seen: `The file ${path} has been updated.`, response: { filePath: path } };
}

function run(
  file: string,
  args: string[],
  { cwd, env, stdin = '' }: { cwd: string; env: NodeJS.ProcessEnv; stdin?: string },
) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const child = execFile(file, args, { cwd, env, encoding: 'utf8' }, (error, stdout, stderr) => {
      resolve({ code: error ? (typeof error.code === 'number' ? error.code : 1) : 0, stdout, stderr });
    });
    child.stdin?.on('error', () => {}); // a tool need not read its input
    child.stdin?.end(stdin);
  });
}
