/** Events like a session's, about 1.5 KB each: two tool calls to one message, hashes and ids random, words by frequency. */
import { randomBytes } from 'node:crypto';
import type { TraceEvent } from '../../schemas/generated.ts';
import { blankEvent } from '../../schemas/testing.ts';

const WORDS = 5000;
const EVENTS_A_SESSION = 120;
const hex = (bytes: number) => randomBytes(bytes).toString('hex');

/** A generator of events: each call gives that many more. */
export function madeEvents(): (count: number) => TraceEvent[] {
  const words = Array.from({ length: WORDS }, () =>
    Math.random()
      .toString(36)
      .slice(2, 4 + Math.floor(Math.random() * 7)),
  );
  const text = (length: number) => {
    let made = '';
    while (made.length < length) {
      made += words[Math.floor(Math.random() * Math.random() * WORDS)] + (Math.random() < 0.1 ? '\n' : ' ');
    }
    return made;
  };
  const chain = hex(8);
  const host = hex(8);
  let made = 0;
  let session = '';
  return (count) => Array.from({ length: count }, () => one());

  function one(): TraceEvent {
    const seq = made % EVENTS_A_SESSION;
    if (seq === 0) session = crypto.randomUUID();
    made++;
    const common = {
      ...blankEvent(),
      event_id: hex(32),
      session_id: session,
      chain_id: chain,
      host_id: host,
      seq,
      prev: seq === 0 ? null : hex(32),
      ts: new Date(1_780_000_000_000 + made * 1700).toISOString(),
      turn: Math.floor(seq / 20),
      harness: 'claude-code',
      harness_version: '2.1.332',
      capture: 'same_user',
      transport: 'command',
      cwd: '/home/dev/project',
      salt: hex(16),
    };
    if (made % 3 === 0) {
      return {
        ...common,
        type: 'message',
        harness_event: 'MessageDisplay',
        role: 'assistant',
        message_id: `msg_${hex(10)}`,
        text_redacted: text(800),
        text_hash: hex(32),
        text_digest: hex(32),
        text_bytes: 800,
      };
    }
    return {
      ...common,
      type: 'tool_call',
      harness_event: 'PostToolUse',
      tool_name: made % 2 ? 'Bash' : 'Read',
      tool_use_id: `toolu_${hex(12)}`,
      status: 'ok',
      exit_code: 0,
      duration_ms: made % 4000,
      input_redacted: JSON.stringify({ command: text(60), description: text(25) }),
      input_hash: hex(32),
      input_digest: hex(32),
      input_bytes: 120,
      output_redacted: text(260),
      output_hash: hex(32),
      output_digest: hex(32),
      output_bytes: 260,
      result_redacted: JSON.stringify({ stdout: text(250), stderr: '', interrupted: false }),
      result_hash: hex(32),
      result_digest: hex(32),
      result_bytes: 300,
    };
  }
}
