/** What a person sees of an import while it runs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { jsonl, transcript } from '../../producers/import/testing.ts';
import { type Sandbox, sandbox } from '../testing.ts';

const shown = vi.hoisted(() => ({ labels: [] as string[], states: [] as string[] }));
vi.mock(import('../progress.ts'), async (original) => ({
  ...(await original()),
  withProgress: async (_, label, work) => {
    shown.labels.push(label);
    return work({ update: (state) => void shown.states.push(state) });
  },
}));

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.remove());

test('an import says how many of a hundred it is at', async () => {
  mkdirSync(join(box.root, 'files'));
  for (const name of ['a', 'b'])
    writeFileSync(join(box.root, 'files', `${name}.jsonl`), jsonl(transcript(name)));
  expect(await box.flipstream(['import', 'files'])).toMatchObject({ code: 0 });
  expect(shown.labels).toEqual(['Importing']);
  expect(shown.states).toContain('50 %');
  expect(shown.states.at(-1)).toBe('100 %');
});
