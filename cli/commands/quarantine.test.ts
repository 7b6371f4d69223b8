import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateIdentity } from 'age-encryption';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { layout } from '../../producers/home.ts';
import { ensureReviewer, reviewerPaths } from '../init/reviewer.ts';
import { openLog } from '../open-log.ts';
import { type Sandbox, sandbox } from '../testing.ts';

const EVENT = { event_id: 'e1', session_id: 's1', prompt_redacted: 'the word is swordfish' };
const ABOUT = {
  event_id: 'e1',
  session_id: 's1',
  ts: '2026-11-30T07:00:00.000Z',
  type: 'prompt',
  reason: 'hit',
  rules: ['a-rule'],
  scanner: '1',
};

let box: Sandbox;
let home: ReturnType<typeof layout>;
beforeEach(async () => {
  box = sandbox();
  home = layout(join(box.root, 'home'));
  await ensureReviewer(home);
  const log = await openLog({ home, engine: {} });
  const later = { ...ABOUT, event_id: 'e2', session_id: 's2', ts: '2026-11-30T08:00:00.000Z', content: null };
  const content = Buffer.from(JSON.stringify(EVENT));
  await log.publish([
    { topic: 'trace.quarantine', key: 's2', value: later },
    { topic: 'trace.quarantine', key: 's1', value: { ...ABOUT, content } },
  ]);
  await log.close();
});
afterEach(() => box.remove());

const quarantine = (...args: string[]) => box.flipstream(['quarantine', ...args]);

test('what is withheld is listed without its content, oldest first, and shown with it to whoever has the key', async () => {
  const listed = await quarantine('list', '--json');
  expect(listed.json()).toMatchObject([
    { ...ABOUT, content_kept: true },
    { event_id: 'e2', content_kept: false },
  ]);
  expect(listed.out).not.toContain('swordfish');
  expect((await quarantine('list', '--session', 's2', '--json')).json()).toMatchObject([{ event_id: 'e2' }]);
  expect((await quarantine('show', 'e1')).out).toContain('"prompt_redacted": "the word is swordfish"');
  expect((await quarantine('show', 'e1', '--json')).json()).toMatchObject({ reason: 'hit', event: EVENT });
});

test('to a file it goes whole, for its owner alone, and over no other', async () => {
  const ran = await quarantine('show', 'e1', '--out', 'event.json');
  expect(ran.out).not.toContain('swordfish');
  const file = join(box.root, 'event.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(EVENT);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  for (const [place, code] of [
    ['event.json', /is there already/],
    ['nowhere/event.json', /There is no folder/],
  ] as const)
    expect(await quarantine('show', 'e1', '--out', place)).toMatchObject({
      code: 2,
      err: expect.stringMatching(code),
    });
});

test('without the key, with another or with none that is one, nothing is shown and the sentence says what to give', async () => {
  const { identity } = reviewerPaths(home);
  writeFileSync(join(box.root, 'other.key'), await generateIdentity());
  writeFileSync(join(box.root, 'no.key'), 'hello');
  rmSync(identity);
  for (const [flags, says] of [
    [[], /sealed to the reviewer: give the private key with --identity/],
    [['--identity', 'other.key'], /other\.key is not the key that this was sealed to/],
    [['--identity', 'no.key'], /no\.key cannot be read as a reviewer.s private key/],
    [['--identity', 'nowhere.key'], /nowhere\.key cannot be read as a reviewer.s private key/],
  ] as const) {
    const ran = await quarantine('show', 'e1', ...flags);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(says);
  }
});

test('an event that is not there, or of which nothing was kept, is told', async () => {
  expect(await quarantine('show', 'e9')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/No event whose id is or begins with "e9" is in quarantine/),
  });
  expect((await quarantine('show', 'e2')).err).toMatch(/no content was kept/);
});

test('the beginning of an id is enough where it is of one event; several are refused, a whole id never', async () => {
  const log = await openLog({ home, engine: {} });
  const content = Buffer.from(JSON.stringify(EVENT));
  const held = (event_id: string) => ({
    ...{ topic: 'trace.quarantine' as const, key: 's1' },
    value: { ...ABOUT, event_id, content },
  });
  await log.publish([held('a1-long'), held('a1-longer'), held('b2-long'), held('b2-long')]);
  await log.close();
  const shown = async (id: string) => (await quarantine('show', id, '--json')).json();
  expect(await shown('b')).toMatchObject({ event_id: 'b2-long' });
  expect(await shown('a1-longe')).toMatchObject({ event_id: 'a1-longer' });
  expect(await shown('a1-long')).toMatchObject({ event_id: 'a1-long' });
  expect(await quarantine('show', 'a1')).toMatchObject({
    code: 2,
    err: expect.stringContaining('Several events in quarantine begin with a1: give more of the id.'),
  });
  expect(await quarantine('show', '')).toMatchObject({ code: 2, err: expect.stringContaining('No event') });
});
