import { appendFileSync, mkdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { ask, entry, spool, told } from './testing.ts';
import {
  aWorldForEachTest,
  chain,
  drained,
  lines,
  start,
  stop,
  waiting,
  warn,
  world,
} from './testing-collector.ts';
import { openTraceFiles, traceFile } from './trace-files.ts';

aWorldForEachTest();

describe('P1 events accepted and then lost while a store behind was down', () => {
  test('the log is down: nothing is lost, nothing leaves the spool, all of it comes when it is up', async () => {
    world.log.down = true;
    spool(world.home, entry(told.start({})), entry(told.prompt('one')));
    const first = await start();
    expect(await ask(world.home, '/drain', { deadline_ms: 30 })).toEqual({ drained: false });
    await vi.waitFor(() => expect(lines()).toHaveLength(2));
    expect(waiting()).toHaveLength(2);
    const state = { waiting: 2, errors: { publish: 'the log is down' } };
    await vi.waitFor(async () => expect(await ask(world.home, '/status')).toMatchObject(state));
    await stop(first);
    world.now += 3 * 3_600_000;
    spool(world.home, entry(told.prompt('two'), { at: 3 * 3_600_000 }));
    await start();
    world.log.down = false;
    await drained();
    expect(chain().map((event) => event.text_redacted)).toEqual([null, 'one', 'two']);
    expect(lines()).toHaveLength(3);
  });

  test('the disk is full while appending: a torn line is repaired, and nothing is missing', async () => {
    const real = openTraceFiles(world.home);
    let full = true;
    const traces = {
      append: (...args: Parameters<typeof real.append>) => {
        if (!full) return real.append(...args);
        appendFileSync(traceFile(world.home, args[0]), '{"half of a li');
        return Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' }));
      },
    };
    spool(world.home, entry(told.start({})), entry(told.prompt('hi')));
    await start({ tune: { traces } });
    expect(await ask(world.home, '/drain', { deadline_ms: 50 })).toEqual({ drained: false });
    full = false;
    await drained();
    expect(chain()).toHaveLength(2);
    expect(lines()).toHaveLength(2);
  });

  test('one trace file that cannot be written holds no other session up', async () => {
    mkdirSync(world.home.traces, { recursive: true });
    mkdirSync(traceFile(world.home, 's1'));
    spool(world.home, entry(told.prompt('stuck')), entry(told.prompt('free'), { session_id: 's2' }));
    await start();
    await vi.waitFor(() => expect(chain('s2')).toHaveLength(1));
    spool(world.home, entry(told.prompt('stuck too')), entry(told.prompt('free too'), { session_id: 's2' }));
    await vi.waitFor(() => expect(chain('s2')).toHaveLength(2));
    rmSync(traceFile(world.home, 's1'), { recursive: true });
    await drained();
    expect(chain()).toHaveLength(2);
    expect(lines()).toHaveLength(2);
  });
});

test('a trace file that was cut short goes on with whole lines, and the log has everything', async () => {
  spool(world.home, entry(told.start({})), entry(told.prompt('one')));
  const first = await start();
  await drained();
  await stop(first);
  truncateSync(traceFile(world.home, 's1'), readFileSync(traceFile(world.home, 's1')).length - 30);
  spool(world.home, entry(told.prompt('two')), entry(told.prompt('three')));
  const second = await start();
  await drained();
  await stop(second);
  expect(lines().map((line) => line.seq)).toEqual([0, 2, 3]);
  expect(chain()).toHaveLength(4);
  expect(warn).toHaveBeenCalledWith(expect.stringContaining('cut short'), expect.anything());
  spool(world.home, entry(told.prompt('four')));
  await start();
  await drained();
  expect(lines().map((line) => line.seq)).toEqual([0, 2, 3, 4]);
});
