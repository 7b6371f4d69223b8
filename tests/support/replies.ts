/** Words and calls of a scripted model. */
import type { Block } from './scripted-model.ts';

let calls = 0;

export function says(text: string): Block {
  return { type: 'text', text };
}

export function call(name: string, input: Record<string, unknown>): Block & { type: 'tool_use' } {
  return { type: 'tool_use', id: `toolu_${process.pid}_${++calls}`, name, input };
}

export const bash = (command: string) => call('Bash', { command });
export const read = (file_path: string) => call('Read', { file_path });
export const edit = (file_path: string, old_string: string, new_string: string) =>
  call('Edit', { file_path, old_string, new_string });

const BUG = '() => share';
const FIX = '(_, person) => (person < cents % people ? share + 1 : share)';

/** The edit that makes the demo's task pass. */
export const fix = (bill: string) => edit(bill, BUG, FIX);

/** FAIL, block, fix, PASS: four replies. */
export function failThenPass(bill: string): Block[][] {
  return [
    [says('I look first.'), read(bill)],
    [says('I am done.')],
    [says('Held. I fix it.'), fix(bill)],
    [says('Now it is right.')],
  ];
}
