/** Which commands say what they are at when it takes long; that they say it, progress.test.ts shows. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { deadLetter } from '../log/deadletter.ts';
import type { Outgoing } from '../log/log.ts';
import { rememberSession } from '../producers/gate/session-file.ts';
import { layout } from '../producers/home.ts';
import { readSettings } from '../producers/settings.ts';
import { HARNESS_CAPABILITIES } from '../schemas/harness-capabilities.ts';
import { headerHash } from '../schemas/header.ts';
import { writeHomeConfig } from './init/home-config.ts';
import { createProgram } from './program.ts';
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
  const home = layout(join(box.root, 'home'));
  sample = await landSample(home, asides());
  writeHomeConfig(home, { ...readSettings(home), oracle: { url: 'http://127.0.0.1:1', token: 't' } });
  writeFileSync(join(box.root, 'empty'), '');
  writeFileSync(join(box.root, 'harness.cjs'), HARNESS);
  rememberSession(home, 's', { task_id: null, base_commit: null, worktree: null, base_matches: null });
  await box.flipstream(['oracle', 'key', 'init']);
});
beforeEach(() => {
  told.labels.length = 0;
  told.states.length = 0;
});
afterAll(() => box.remove());

/** An event that is withheld, and a record that was set aside. */
function asides(): Outgoing[] {
  const held = { event_id: 'e1', session_id: 's1', ts: '2026-01-02T00:00:00.000Z', type: 'message' };
  const value = { ...held, reason: 'hit', rules: [], scanner: '1', content: null };
  const place = { topic: 'trace.raw', partition: 0, group: 'redact' } as const;
  const record = { offset: 0, timestamp: 0, key: 'k', value: Buffer.from([1]) };
  const refused = { record, reason: 'bad_frame', message: '1 byte is too few' };
  return [{ topic: 'trace.quarantine', key: 's1', value }, deadLetter(place, refused, 0, undefined)];
}

/** A harness of which a hook tells a session. */
const HARNESS = `
  const { appendFileSync, mkdirSync } = require('node:fs');
  const runs = process.env.FLIPSTREAM_HOME + '/runs/';
  mkdirSync(runs, { recursive: true });
  const session = { session_id: 's', harness: 'h', cwd: null };
  appendFileSync(runs + process.env.FLIPSTREAM_RUN + '.jsonl', JSON.stringify(session));
`;
const NOBODY = ['--brokers', '127.0.0.1:1', '--registry', 'http://127.0.0.1:1'];

/** Each command that can take long, what it says, and how far it was where that is counted. */
const LONG: [string[], string, string[]?][] = [
  [['sessions'], 'Asking'],
  [['flips'], 'Asking'],
  [['sql', 'select 1'], 'Asking'],
  [['sql'], 'Asking'],
  [['status'], 'Asking'],
  [['doctor'], 'Looking'],
  [['session', 'show', SESSION], 'Reading the session', ['3 steps read']],
  [['session', 'export', SESSION, '--out', 'bundle'], 'Exporting the session', ['9 events read']],
  [['export', 'atif', SESSION], 'Reading the session', ['9 events read']],
  [['verify', 'bundle'], 'Checking'],
  [['deadletter', 'list'], 'Reading the dead letters', ['1 record read']],
  [['deadletter', 'show', 'trace.raw/0@0'], 'Reading the dead letters', ['1 record read']],
  [['deadletter', 'retry', '--all'], 'Putting back', ['1 record read', '0 of 1']],
  [['quarantine', 'list'], 'Reading the quarantine', ['1 event']],
  [['quarantine', 'show', 'e1'], 'Reading the quarantine', ['1 event']],
  [['replay', 'fresh'], 'Replaying', ['9 events']],
  [['import', 'empty'], 'Importing'],
  [['kafka', 'setup', ...NOBODY], 'Looking at the cluster'],
  [['kafka', 'acls', '--apply', ...NOBODY], 'Allowing'],
  [['kafka', 'move'], 'Moving'],
  [['task', 'start', 'no-task'], 'Fetching no-task'],
  [['run', '--', process.execPath, 'harness.cjs'], 'Asking the oracle'],
  [['oracle', 'task', 'new', 'draft', '--repo', '.', '--test', 'x'], 'Reading the repository'],
  [['oracle', 'task', 'add', 'no-task'], 'Copying the repository'],
  [['oracle', 'task', 'check', 'no-task'], 'Checking no-task'],
  [['oracle', 'task', 'export', 'no-task'], 'Packing the repository'],
  [['oracle', 'grade', 'no-task', 'empty'], 'Grading empty'],
  [['oracle', 'regrade', '--task', 'no-task'], 'Grading no-task again'],
];

test.each(LONG)('%j says what it is at', async (argv, label, states = []) => {
  await box.flipstream(argv, 'select 1;');
  expect(told.labels).toEqual([label]);
  for (const state of states) expect(told.states).toContain(state);
});

/** What writes a small file or reads a small table, and what says more than that it is at work. */
const OTHERS = [
  ...['demo', 'up', 'oracle serve', 'harnesses', 'key-ring accept', 'pause', 'resume'],
  ...HARNESS_CAPABILITIES.map(({ harness }) => `init ${harness}`),
  ...['oracle key init', 'oracle key rotate', 'oracle key revoke', 'oracle key export', 'oracle token'],
  ...[
    'oracle task list',
    'oracle task quarantine',
    'oracle task release',
    'oracle log show',
    'oracle signals',
  ],
];

test('there is no command of which nobody has said whether it can take long', async () => {
  const signal = AbortSignal.abort();
  const { stdin, stdout, stderr } = process;
  const io = { stdin, stdout, stderr, env: {}, cwd: '/', clock: Date.now, signal };
  const { program } = await createProgram(io);
  const unsaid = leaves(program).filter(
    (name) => !OTHERS.includes(name) && !LONG.some(([argv]) => `${argv.join(' ')} `.startsWith(`${name} `)),
  );
  expect(unsaid).toEqual([]);
});

/** Commands that do something, by their whole name. */
function leaves({ commands }: Command): string[] {
  return commands.flatMap((child) =>
    child.commands.length === 0 ? [child.name()] : leaves(child).map((name) => `${child.name()} ${name}`),
  );
}

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
