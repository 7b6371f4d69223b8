/** What doctor says of a spool that piles up, of losses, of entries that nobody can read, and of a disk that fills. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { startCollector } from '../../producers/collector/collector.ts';
import { memoryLog } from '../../producers/collector/testing.ts';
import { type Home, layout } from '../../producers/home.ts';
import { countLoss } from '../../producers/spool/losses.ts';
import { prepareSpool } from '../../producers/spool/prepare.ts';
import { type Sandbox, sandbox } from '../testing.ts';
import { checkDisk } from './machine.ts';
import { checkLosses, checkSpool } from './state.ts';

let box: Sandbox;
let home: Home;
beforeEach(() => {
  box = sandbox();
  home = layout(join(box.root, 'home'));
  prepareSpool(home);
});
afterEach(() => box.remove());

const Report = z.object({
  findings: z.array(z.looseObject({ check: z.string(), state: z.string(), message: z.string() })),
});
async function doctor() {
  const { findings } = Report.parse((await box.flipstream(['doctor', '--json'])).json());
  return findings.map(({ check, state, message }) => `${state} ${check}: ${message}`);
}
const spool = (names: number, from = 0) => {
  for (let n = from; n < names; n++) writeFileSync(join(home.spool, 'new', `${n}.json`), 'no entry');
};

test('a thousand entries that wait are a problem, one fewer is none', async () => {
  spool(999);
  expect(checkSpool(home)).toEqual({
    check: 'spool',
    state: 'ok',
    message: '999 entries wait for the collector.',
  });
  spool(1000, 999);
  expect(checkSpool(home)).toMatchObject({
    state: 'problem',
    message: '1000 entries wait for the collector.',
    mend: expect.stringContaining('flipstream up'),
  });
  expect(await doctor()).toContain('problem spool: 1000 entries wait for the collector.');
});

test('what could not be kept is a problem, with its number', async () => {
  expect(checkLosses(home)).toMatchObject({ state: 'ok' });
  for (let lost = 0; lost < 3; lost++) expect(countLoss(home)).toBe(true);
  expect(await doctor()).toContainEqual(
    expect.stringMatching(/^problem losses: 3 events could not be kept: /),
  );
});

test('entries that the collector could not read are a warning, with their number', async () => {
  spool(2);
  const collector = await startCollector({
    home,
    log: memoryLog(),
    clock: Date.now,
    settings: { v: 1 as const },
    warn: () => {},
  });
  try {
    await vi.waitFor(async () =>
      expect(await doctor()).toContain(
        'warning unreadable: 2 spool entries could not be read and had to be set aside.',
      ),
    );
  } finally {
    await collector.stop();
  }
});

test('less than a GiB of free space is a problem', async () => {
  const gib = 1024 ** 3;
  expect(checkDisk('/x', () => gib)).toEqual({
    check: 'disk',
    state: 'ok',
    message: '1.0 GiB free at /x.',
  });
  expect(checkDisk('/x', () => gib - 1)).toMatchObject({
    check: 'disk',
    state: 'problem',
    mend: expect.stringContaining('Free space'),
  });
  expect(checkDisk(box.root).message).toMatch(/^\d+\.\d GiB free at /);
  expect(await doctor()).toContainEqual(expect.stringMatching(/ disk: \d+\.\d GiB free at /));
});
