/** Seven questions about one session, asked in SQL, alike for every harness. */
import type { Capability, Given } from '../../schemas/harness-capabilities.ts';
import type { Rig } from './rig.ts';
import type { Turn } from './scripted-apis.ts';

export const PROMPT = 'Fix-splitBill.';
const FIX = `sed -i 's/() => share/(_, person) => (person < cents % people ? share + 1 : share)/' src/bill.js`;

/** A call that succeeds, one that fails, a stop that is refused, the fix, and a stop that is granted. */
export const SCRIPT: readonly Turn[] = [
  { text: 'I look.', command: 'ls src' },
  { text: 'It fails.', command: 'echo the output; exit 3' },
  { text: 'I am done.' },
  { text: 'Held. I fix it.', command: FIX },
  { text: 'Now it is right.' },
];

const QUESTIONS = {
  prompts: `SELECT text_redacted AS prompt FROM events WHERE type = 'message' AND role = 'user'`,
  commands: `SELECT tool_kind, regexp_extract(input, '(ls src|exit 3|sed -i)') AS command FROM tool_calls ORDER BY n`,
  failed: `SELECT count(*) FILTER (status = 'error') AS failed, count(*) FILTER (status = 'ok') AS succeeded,
             max(exit_code) AS exit_code FROM tool_calls`,
  shown: `SELECT count(*) AS calls FROM tool_calls WHERE coalesce(output, result) LIKE '%the output%'`,
  said: `SELECT count(*) > 0 AS said FROM events
         WHERE type = 'message' AND role = 'assistant' AND text_redacted LIKE '%Now it is right.%'`,
  timed: `SELECT count(*) FILTER (duration_ms IS NULL) = 0 AS timed FROM tool_calls`,
  ended: `SELECT outcome, attempts, turns, tool_calls, model IS NOT NULL AS model, ended FROM sessions`,
} as const;

type Answers = Record<keyof typeof QUESTIONS, Record<string, unknown>[]>;

export async function answers(rig: Rig, sessionId: string): Promise<Answers> {
  const asked = Object.entries(QUESTIONS).map(async ([name, text]) => {
    const own = text.replace(/FROM (\w+)/, `FROM (SELECT * FROM $1 WHERE session_id = '${sessionId}')`);
    return [name, await rig.sql(own)];
  });
  return Object.fromEntries(await Promise.all(asked));
}

/** The answers that a harness which gives these things must lead to. */
export function expected(gives: Readonly<Record<Capability, Given>>): Answers {
  const has = (name: Capability) => gives[name] !== 'no';
  const command = (name: string) => ({ tool_kind: 'shell', command: name });
  return {
    prompts: [{ prompt: PROMPT }],
    commands: ['ls src', 'exit 3', 'sed -i'].map(command),
    // Where nobody tells of a failure, nobody may say that it went well.
    failed: [
      has('tool_failure')
        ? { failed: 1, succeeded: 2, exit_code: has('exit_code') ? 3 : null }
        : { failed: 0, succeeded: 0, exit_code: null },
    ],
    shown: [{ calls: has('tool_output') ? 1 : 0 }],
    said: [{ said: has('assistant_text') }],
    timed: [{ timed: has('duration') }],
    ended: [{ outcome: 'flipped', attempts: 2, turns: 1, tool_calls: 3, model: has('model'), ended: true }],
  };
}
