import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { deadLetter } from '../../log/deadletter.ts';
import { openEmbeddedLog } from '../../log/embedded/open.ts';
import { type Home, layout } from '../../producers/home.ts';
import { type Sandbox, sandbox } from '../testing.ts';
import { checkReview } from './review.ts';

const HELD = {
  ...{ event_id: 'e', session_id: 's', ts: '2026-01-01T00:00:00.000Z', type: 'message' },
  ...{ reason: 'hit', rules: [], scanner: '1' },
};
const seal = async (bytes: Buffer) => bytes;

let box: Sandbox;
let home: Home;
beforeEach(() => {
  box = sandbox();
  home = layout(join(box.root, 'home'));
});
afterEach(() => box.remove());

/** What the log took on a day: withheld events, of which the last has no content, and a record set aside. */
async function took(day: string, withheld: number): Promise<void> {
  const clock = () => Date.parse(day);
  const log = await openEmbeddedLog({ dir: home.log, clock, seal, maintainEveryMs: null });
  for (let nth = 1; nth <= withheld; nth++) {
    const content = nth < withheld ? Buffer.from('sealed') : null;
    await log.publish([{ topic: 'trace.quarantine', key: 's', value: { ...HELD, content } }]);
  }
  const record = { offset: 0, timestamp: 0, key: 'k', value: Buffer.from(day) };
  const place = { topic: 'trace.raw', partition: Number(day.slice(8)) % 4, group: 'redact' } as const;
  const refused = { record, reason: 'bad_frame', message: 'too few' };
  await log.publish([deadLetter(place, refused, clock(), seal)]);
  await log.close();
}

const on = async (day: string) =>
  (await checkReview({ home, engine: {} }, () => Date.parse(day))).map(
    ({ state, message }) => `${state} ${message}`,
  );
const WELL = ['ok Nothing that waits for a person goes by age within 30 days.'];

test('what is withheld, and what was set aside, is told thirty days before the log removes it', async () => {
  await took('2026-01-01', 3);
  await took('2026-02-02', 2);
  expect(await on('2026-12-01')).toEqual(WELL);
  expect(await on('2026-12-03')).toEqual([
    'warning The log keeps events whose content is in quarantine for 365 days: 2 of them go soon, the first on 2027-01-01.',
    'warning The log keeps records that were set aside and not put back for 365 days: 1 of them go soon, the first on 2027-01-01.',
  ]);
  expect(await on('2027-01-20')).toEqual([
    expect.stringContaining('365 days: 3 of them'),
    expect.stringContaining('365 days: 2 of them'),
  ]);
});

test('where nothing was recorded nothing is said, and doctor says the rest', async () => {
  expect(await on('2026-12-03')).toEqual([]);
  await took('2026-01-01', 2);
  const clock = Date.parse('2026-12-03');
  expect((await checkReview({ home, engine: {} }, () => clock)).map(({ mend }) => mend)).toEqual([
    expect.stringContaining('flipstream quarantine list'),
    expect.stringContaining('flipstream deadletter retry'),
  ]);
  const { out } = await box.flipstream(['doctor']);
  expect(out).toContain(' review: ');
  rmSync(home.log, { recursive: true });
  expect((await box.flipstream(['doctor'])).out).not.toContain(' review: ');
});
