/** A load of made-up sessions, captured by the hook's own code and put into the spool. */
import { randomUUID } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { capture } from '../../producers/capture.ts';
import type { Home } from '../../producers/home.ts';
import { loadHashKey } from '../../producers/identity-files.ts';
import { keyedHash } from '../../schemas/hash.ts';
import type { Clock } from '../../schemas/time.ts';

/** Events that one call of `turn` leaves in the warehouse. */
export const EVENTS_A_TURN = 5;

export interface LoadSession {
  id: string;
  /** One turn: prompt, message, a tool call with its start and its result, and a notification. */
  turn(): void;
  /** How many events it has made so far. */
  events(): number;
}

/** Sessions whose payloads go straight into the spool of `home`. @param clock time of capture */
export function createLoad(home: Home, clock: Clock = Date.now): { session(): LoadSession } {
  const hashKey = loadHashKey(home);
  let written = 0;

  function put(payload: Record<string, unknown>): void {
    const now = clock();
    const entry = capture(JSON.stringify(payload), {
      hash: (data) => keyedHash(hashKey, data),
      limit: 64 * 1024,
      clock: () => now,
      registration: 'settings',
      transport: 'command',
      openKeys: { isOpen: () => false, set: () => {} },
      readRules: () => null,
      silenced: () => false,
    });
    // Not synced as the hook does: nobody pulls this machine's plug, and 20,000 syncs would be the test.
    const name = `${String(now * 1000).padStart(16, '0')}-${process.pid}-${String(written++).padStart(12, '0')}.json`;
    writeFileSync(join(home.spool, 'tmp', name), JSON.stringify(entry));
    renameSync(join(home.spool, 'tmp', name), join(home.spool, 'new', name));
  }

  return {
    session() {
      const id = randomUUID();
      let turns = 0;
      const send = (hook_event_name: string, fields: object) =>
        put({ session_id: id, cwd: '/none', hook_event_name, ...fields });
      return {
        id,
        events: () => turns * EVENTS_A_TURN,
        turn() {
          const call = {
            tool_name: 'Bash',
            tool_use_id: `toolu_${id}_${turns}`,
            tool_input: { command: `echo ${turns}` },
          };
          send('UserPromptSubmit', { prompt: `turn ${turns}`, prompt_id: randomUUID() });
          send('MessageDisplay', {
            turn_id: 't',
            message_id: randomUUID(),
            index: 0,
            final: true,
            delta: `I run it. ${'x'.repeat(200)}`,
          });
          send('PreToolUse', call);
          send('PostToolUse', {
            ...call,
            tool_response: { stdout: String(turns), stderr: '', interrupted: false },
            duration_ms: 3,
          });
          send('PostToolBatch', { tool_calls: [{ ...call, tool_response: String(turns) }] });
          send('Notification', { message: `after ${turns}`, notification_type: 'idle' });
          turns++;
        },
      };
    },
  };
}
