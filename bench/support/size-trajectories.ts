/** Real trajectories as the events our hooks would have made of them, each trajectory once. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { TraceEvent } from '../../schemas/generated.ts';
import { saltedDigest, sha256 } from '../../schemas/hash.ts';
import { blankEvent } from '../../schemas/testing.ts';

/** One turn of the model: what it said, what it called, what came back. */
interface Step {
  said: string;
  input: string;
  output: string;
}

const SweAgent = z.object({
  trajectory: z.array(z.object({ thought: z.string(), action: z.string(), observation: z.string() })),
});
const Part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  input: z.unknown().optional(),
  content: z.unknown().optional(),
});
const ClaudeLine = z.looseObject({
  message: z.looseObject({ content: z.union([z.string(), z.array(Part)]) }).optional(),
});

/** @param dir a folder of `swe-agent`, `swe-smith` and `claude-code` trajectories. */
export function trajectories(dir: string): TraceEvent[][] {
  const found: Step[][] = [];
  for (const kind of ['swe-agent', 'swe-smith', 'claude-code']) {
    for (const file of readdirSync(join(dir, kind))) {
      const text = readFileSync(join(dir, kind, file), 'utf8');
      if (file.endsWith('.traj')) found.push(sweSteps(text));
      if (file.endsWith('.jsonl')) found.push(claudeSteps(text));
    }
  }
  return found.map(sessionOf);
}

function sweSteps(text: string): Step[] {
  return SweAgent.parse(JSON.parse(text)).trajectory.map(({ thought, action, observation }) => ({
    said: thought,
    input: JSON.stringify({ command: action }),
    output: observation,
  }));
}

function claudeSteps(text: string): Step[] {
  const steps: Step[] = [];
  let said = '';
  for (const line of text.trim().split('\n')) {
    const content = ClaudeLine.parse(JSON.parse(line)).message?.content ?? [];
    for (const part of typeof content === 'string' ? [{ type: 'text', text: content }] : content) {
      if (part.type === 'text') said = part.text ?? '';
      if (part.type === 'tool_use') steps.push({ said, input: JSON.stringify(part.input), output: '' });
      const last = steps.at(-1);
      if (part.type === 'tool_result' && last) last.output = plain(part.content);
    }
  }
  return steps;
}

function plain(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}

const hex = (bytes: number) => randomBytes(bytes).toString('hex');
const MOST = 64 * 1024;

function sessionOf(steps: readonly Step[]): TraceEvent[] {
  const session = crypto.randomUUID();
  const [chain, host] = [hex(8), hex(8)];
  let seq = 0;
  const event = (
    more: Partial<TraceEvent>,
    content: Partial<Record<'text' | 'input' | 'output' | 'result', string>>,
  ): TraceEvent => {
    const salt = hex(16);
    const made: TraceEvent = {
      ...blankEvent(),
      event_id: hex(32),
      session_id: session,
      chain_id: chain,
      host_id: host,
      seq,
      prev: seq === 0 ? null : hex(32),
      ts: new Date(1_780_000_000_000 + seq++ * 2300).toISOString(),
      turn: 1,
      harness: 'claude-code',
      harness_version: '2.1.332',
      capture: 'same_user',
      transport: 'command',
      cwd: '/home/dev/project',
      prompt_id: session,
      salt,
      ...more,
    };
    for (const field of ['text', 'input', 'output', 'result'] as const) {
      const value = content[field]?.slice(0, MOST);
      if (value === undefined) continue;
      made[`${field}_redacted`] = value;
      made[`${field}_hash`] = sha256(session + value);
      made[`${field}_digest`] = saltedDigest(salt, value);
      made[`${field}_bytes`] = Buffer.byteLength(value);
    }
    return made;
  };
  return steps.flatMap(({ said, input, output }) => {
    const call = { tool_name: 'Bash', tool_use_id: `toolu_${hex(12)}` };
    const result = JSON.stringify({ stdout: output, stderr: '', interrupted: false });
    return [
      event(
        { type: 'message', role: 'assistant', message_id: `msg_${hex(10)}`, harness_event: 'MessageDisplay' },
        { text: said },
      ),
      event({ ...call, type: 'notice', kind: 'call_started', harness_event: 'PreToolUse' }, { input }),
      event(
        {
          ...call,
          type: 'tool_call',
          status: 'ok',
          exit_code: 0,
          duration_ms: 40 + seq,
          harness_event: 'PostToolUse',
        },
        { input, output, result },
      ),
    ];
  });
}
