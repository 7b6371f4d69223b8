/** The hook ends in its time and with 0 whatever happens, and what it saw until then is kept or counted. */
import { EventEmitter } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readLosses } from '../spool/losses.ts';
import { prepareSpool } from '../spool/prepare.ts';
import { realDisk } from '../spool/put.ts';
import { BUDGET_MS, BUDGETS_MS } from './budgets.ts';
import { guard } from './guard.ts';
import { type HookIo, startHook } from './run.ts';
import { readInput } from './stdin.ts';
import { hookIo, hookProcess, type Place, spooled, temporaryHome } from './testing.ts';

let place: Place;
beforeEach(() => {
  place = temporaryHome();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
  place.remove();
});

class Host extends EventEmitter {
  codes: number[] = [];
  exit = (code: number) => void this.codes.push(code);
}

describe('the guard', () => {
  test('work that never ends is ended with 0 when its time is over, counted from the start of the process', () => {
    const host = new Host();
    const last = vi.fn();
    guard(host, Date.now() - 500, last);
    vi.advanceTimersByTime(BUDGET_MS - 501);
    expect(host.codes).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(host.codes).toEqual([0]);
    expect(last).toHaveBeenCalledOnce();
  });

  test.each(Object.entries(BUDGETS_MS))('a hook at a %s has its own time', (_moment, ms) => {
    const host = new Host();
    guard(host, Date.now(), () => {}).within(ms);
    vi.advanceTimersByTime(ms - 1);
    expect(host.codes).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(host.codes).toEqual([0]);
  });

  test('time that is over before it is set ends the work at once', () => {
    const host = new Host();
    guard(host, Date.now() - 2_000, () => {}).within(BUDGETS_MS.end);
    vi.advanceTimersByTime(0);
    expect(host.codes).toEqual([0]);
  });

  test.each(['uncaughtException', 'unhandledRejection', 'SIGTERM', 'SIGINT', 'SIGHUP'])(
    '%s ends it with 0',
    (event) => {
      const host = new Host();
      const last = vi.fn();
      guard(host, Date.now(), last);
      host.emit(event, new Error('boom'));
      expect(host.codes).toEqual([0]);
      expect(last).toHaveBeenCalledOnce();
    },
  );
});

const HALF = '{"session_id":"s2","hook_event_name":"PostToolUse","tool_response":"';

/** A hook under its guard, whose payload comes in pieces. */
function guarded(over: Partial<HookIo> = {}) {
  const host = new Host();
  const stdin = new PassThrough();
  const { end, within } = guard(host, Date.now(), () => hook.giveUp());
  const read: HookIo['read'] = (options) => readInput(stdin, options);
  const hook = startHook({ ...hookIo(place.home, ''), read, budget: within, ...over });
  hook.done.then(end);
  return { host, stdin };
}

/** Lets a stream hand on what was written. */
const handOn = () => new Promise((resolve) => setImmediate(resolve));

describe('C1 a payload that takes longer than the hook may', () => {
  async function trickle({ host, stdin }: ReturnType<typeof guarded>): Promise<void> {
    for (let ms = 0; ms < BUDGET_MS; ms += 1_400) {
      stdin.write(ms === 0 ? HALF : 'more ');
      await handOn();
      vi.advanceTimersByTime(1_400);
    }
    expect(host.codes).toEqual([0]);
  }

  test('what came of it is kept as unparseable, under its session', async () => {
    await trickle(guarded());
    const [entry, ...more] = spooled(place.home);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({ session_id: 's2', harness_event: 'PostToolUse' });
    expect(entry?.drafts).toMatchObject([
      { kind: 'unparseable', content: { text: { text: `${HALF}${'more '.repeat(5)}` } } },
    ]);
  });

  test('over the limit: its length until then', async () => {
    await trickle(guarded({ inputLimit: 70 }));
    expect(spooled(place.home)).toMatchObject([
      { session_id: 's2', drafts: [{ kind: 'payload_too_large' }] },
    ]);
  });

  test('on a full disk the loss is counted', async () => {
    prepareSpool(place.home);
    const full = () => {
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    };
    await trickle(guarded({ disk: { ...realDisk, write: full } }));
    expect(readLosses(place.home).count).toBe(1);
  });

  test('without a key to hash it by, nothing is written and the loss is counted', async () => {
    prepareSpool(place.home);
    mkdirSync(dirname(place.home.hashKey));
    writeFileSync(place.home.hashKey, 'short');
    await trickle(guarded());
    expect(spooled(place.home)).toEqual([]);
    expect(readLosses(place.home).count).toBe(1);
  });
});

test('C1 a signal in the middle of a payload: what came is kept; before it: nothing was seen, so nothing is', async () => {
  const [half, none] = [guarded(), guarded()];
  half.stdin.write(HALF);
  await handOn();
  for (const { host } of [half, none]) host.emit('SIGTERM');
  expect([half.host.codes, none.host.codes]).toEqual([[0], [0]]);
  expect(spooled(place.home)).toMatchObject([{ session_id: 's2', drafts: [{ kind: 'unparseable' }] }]);
});

test('C1 a fault of ours before the payload is kept is a counted loss', async () => {
  prepareSpool(place.home);
  const cwd = () => {
    throw new Error('a fault');
  };
  const { host, stdin } = guarded({ cwd });
  stdin.end('{"session_id":"s1","hook_event_name":"Stop"}');
  await vi.waitFor(() => expect(host.codes).toEqual([0]));
  expect(spooled(place.home)).toEqual([]);
  expect(readLosses(place.home).count).toBe(1);
});

test('silenced while a payload comes: nothing is kept, and nothing counted', async () => {
  prepareSpool(place.home);
  const { host, stdin } = guarded();
  stdin.write(HALF);
  await handOn();
  writeFileSync(place.home.paused, '');
  host.emit('SIGTERM');
  expect(spooled(place.home)).toEqual([]);
  expect(readLosses(place.home).count).toBe(0);
});

test.each([
  ['an exception', 'throw new Error("boom")'],
  ['a rejection', 'Promise.reject(new Error("boom"))'],
])(
  'C1 %s that nobody catches, in the hook as it is installed: 0, nothing printed, the payload kept',
  async (_what, fault) => {
    vi.useRealTimers();
    const preload = join(place.root, 'fault.cjs');
    writeFileSync(preload, `setImmediate(() => { ${fault}; });`);
    const ran = await hookProcess(place.home, HALF, {
      hang: true,
      env: { NODE_OPTIONS: `--require=${preload}` },
    });
    expect(ran).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(spooled(place.home)).toMatchObject([{ session_id: 's2', drafts: [{ kind: 'unparseable' }] }]);
  },
);
