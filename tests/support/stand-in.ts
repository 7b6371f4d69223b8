/**
 * Plays a harness that nothing can hold, as far as its documentation tells: `cursor` is `cursor-agent -p` (session and tool
 * hooks only, resumable), `cline` runs one executable an event and knows no resuming. Runs the hooks that are registered in
 * HOME. The first time it is asked it changes nothing; told by the constant reason, it fixes the demo's bug.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { BLOCK_REASON } from '../../schemas/block-reason.ts';

const CursorHooks = z.looseObject({
  hooks: z.record(z.string(), z.array(z.looseObject({ command: z.string() }))),
});
const [, , harness = '', ...args] = process.argv;
const at = args.indexOf('--resume');
const resumed = at < 0 ? undefined : args[at + 1];
const prompt = (at < 0 ? args : args.toSpliced(at, 2)).at(-1) ?? '';
const id = resumed ?? randomUUID();
const cwd = process.cwd();

function run(command: string, payload: object): void {
  const { status, stderr } = spawnSync('/bin/sh', ['-c', command], {
    input: JSON.stringify(payload),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${command}: ${status} ${stderr}`);
}

function cursor(event: string, fields: object): void {
  const { hooks } = CursorHooks.parse(
    JSON.parse(readFileSync(join(homedir(), '.cursor', 'hooks.json'), 'utf8')),
  );
  const base = {
    ...{ conversation_id: id, generation_id: randomUUID(), model: 'scripted', cursor_version: '3.7.21' },
    ...{ workspace_roots: [cwd], user_email: null, transcript_path: null, hook_event_name: event },
  };
  for (const { command } of hooks[event] ?? []) run(command, { ...base, ...fields });
}

function cline(event: string, fields: object): void {
  const base = {
    ...{ clineVersion: '3.0.65', hookName: event, timestamp: String(Date.now()), taskId: id },
    ...{ workspaceRoots: [cwd], userId: 'u', model: { provider: 'scripted', slug: 'scripted' } },
  };
  run(join(homedir(), '.cline', 'hooks', event), { ...base, ...fields });
}

const FIX = `sed -i 's/() => share/(_, person) => (person < cents % people ? share + 1 : share)/' src/bill.js`;
const command = prompt.includes(BLOCK_REASON) ? FIX : 'ls src';
const output = execFileSync('/bin/sh', ['-c', command], { cwd, encoding: 'utf8' });

if (harness === 'cursor') {
  cursor('sessionStart', { session_id: id, is_background_agent: false });
  const call = { tool_name: 'Shell', tool_input: { command }, tool_use_id: randomUUID(), cwd };
  cursor('preToolUse', call);
  cursor('postToolUse', {
    ...call,
    tool_output: JSON.stringify({ exitCode: 0, stdout: output }),
    duration: 1,
  });
  cursor('sessionEnd', { session_id: id, reason: 'completed', duration_ms: 1, final_status: 'completed' });
} else {
  const call = { toolName: 'execute_command', parameters: { command } };
  cline('TaskStart', { taskStart: { taskMetadata: { taskId: id } } });
  cline('UserPromptSubmit', { userPromptSubmit: { prompt } });
  cline('PreToolUse', { preToolUse: call });
  cline('PostToolUse', { postToolUse: { ...call, result: output, success: true, executionTimeMs: 1 } });
  cline('TaskComplete', { taskComplete: { taskMetadata: { taskId: id } } });
}
