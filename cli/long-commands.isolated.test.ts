/** Which commands say what they are at when it takes long; that they say it, progress.test.ts shows. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { layout } from '../producers/home.ts';
import { headerHash } from '../schemas/header.ts';
import type * as progress from './progress.ts';
import { type Sandbox, sandbox } from './testing.ts';
import { landSample } from './testing-warehouse.ts';
import { bundleText, makeBundle } from './verify/bundle.ts';
import { type Sample, SESSION } from './verify/testing.ts';

const told = vi.hoisted(() => ({ labels: [] as string[], states: [] as string[] }));
vi.mock('./progress.ts', () => ({
  withProgress: (async (_, label, work) => {
    told.labels.push(label);
    return work({ update: (state) => told.states.push(state) });
  }) satisfies typeof progress.withProgress,
}));

let box: Sandbox;
let sample: Sample;
beforeAll(async () => {
  box = sandbox();
  sample = await landSample(layout(join(box.root, 'home')));
});
beforeEach(() => {
  told.labels.length = 0;
  told.states.length = 0;
});
afterAll(() => box.remove());

test.each([
  [['sessions'], 'Asking', []],
  [['flips'], 'Asking', []],
  [['session', 'show', SESSION], 'Reading the session', ['3 steps read']],
  [['session', 'export', SESSION, '--out', 'bundle'], 'Exporting the session', ['9 events read']],
  [['export', 'atif', SESSION], 'Reading the session', ['9 events read']],
  [['verify', 'bundle'], 'Checking', []],
])('%j', async (argv, label, states) => {
  expect(await box.flipstream(argv)).toMatchObject({ code: 0, err: '' });
  expect(told).toEqual({ labels: [label], states });
});

test('of a large bundle verify says how far it is, in each of its two parts', async () => {
  const events = [...sample.events];
  for (let last = events.at(-1); last && events.length < 3000; last = events.at(-1))
    events.push({ ...last, event_id: `${events.length}`, seq: events.length, prev: headerHash(last) });
  const file = join(box.root, 'large.jsonl');
  writeFileSync(file, bundleText(makeBundle(SESSION, events, sample.verdicts, sample.ring)));
  expect(await box.flipstream(['verify', file])).toMatchObject({ code: 0 });
  for (const what of ['events read', 'records judged'])
    expect(told.states).toContainEqual(expect.stringMatching(new RegExp(`^\\d+ of 300\\d ${what}$`)));
});
