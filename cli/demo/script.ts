/** What the demo's model says: a first change that passes every test it can see, and a second one that is right. */
import { join } from 'node:path';
import type { Step } from './harness.ts';

export const PROMPT =
  'splitBill loses cents when a bill does not divide evenly. Fix it: nothing may be lost, and nobody pays over a cent more than anyone else.';

const SHARES = 'Array.from({ length: people }, () => share)';
const FIRST =
  'Array.from({ length: people }, (_, person) => (person === 0 ? share + (cents % people) : share))';
const SECOND = 'Array.from({ length: people }, (_, person) => (person < cents % people ? share + 1 : share))';

/** First attempt: the whole rest on one person. The visible tests pass; the hidden ones do not. */
export function firstAttempt(clone: string): Step[] {
  const file_path = join(clone, 'src', 'bill.js');
  return [
    { says: 'I look at how the shares are made.', calls: [{ name: 'Read', input: { file_path } }] },
    {
      says: 'The rest of the division is thrown away. I give it to the first person.',
      calls: [
        { name: 'Edit', input: { file_path, old_string: SHARES, new_string: FIRST } },
        { name: 'Bash', input: { command: 'node --test' } },
      ],
    },
  ];
}

/** Second attempt, after the gate: one cent each until the rest is gone. */
export function secondAttempt(clone: string): Step[] {
  const file_path = join(clone, 'src', 'bill.js');
  return [
    {
      says: 'Not accepted. With three people and 1001 cents the first would pay two cents more than the others; I spread the rest.',
      calls: [
        { name: 'Edit', input: { file_path, old_string: FIRST, new_string: SECOND } },
        { name: 'Bash', input: { command: 'node --test' } },
      ],
    },
  ];
}
