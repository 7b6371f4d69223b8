/** `up` as people run it: four processes, and one port that tells of them all. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { mainScript } from '../cli/package.ts';
import { type Sandbox, sandbox } from '../cli/testing.ts';
import { landSample } from '../cli/testing-warehouse.ts';
import { openEmbeddedLog } from '../log/embedded/open.ts';
import { layout } from '../producers/home.ts';
import { blankEvent } from '../schemas/testing.ts';
import { commitPath } from '../warehouse/delta/files.ts';
import { readSnapshot } from '../warehouse/delta/snapshot.ts';
import { tableDir } from '../warehouse/tables.ts';
import { inject } from './support/inject.ts';

let box: Sandbox;
let up: ChildProcess;
beforeEach(async () => {
  box = sandbox();
  await box.flipstream(['init', 'claude-code', '--yes']);
});
afterEach(() => {
  up.kill('SIGKILL'); // its parts end with it
  box.remove();
});

const Started = z.object({
  running: z.array(z.string()),
  metrics: z.url(),
  pids: z.record(z.string(), z.number()),
});

const LogLine = z.looseObject({
  url: z.url().optional(),
  code: z.string().optional(),
  msg: z.string().optional(),
});

test('what every part did is scraped at the one port: what redact set aside and took in, and who is up', async () => {
  up = spawn(process.execPath, [mainScript(), 'up', '--json', '--metrics-port', '0'], {
    env: box.env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (!up.stdout) throw new Error('no stdout');
  const [first] = await once(up.stdout, 'data');
  const { running, metrics, pids } = Started.parse(JSON.parse(String(first)));
  expect(running).toEqual(['collector', 'streams', 'sink', 'oracle']);
  const scrape = async () => (await fetch(metrics)).text();

  const text = await scrape();
  for (const part of running) expect(text).toContain(`flipstream_up{part="${part}"} 1\n`);
  expect(text).toContain('flipstream_dead_letters_total{part="streams"} 0\n');

  const dir = join(box.root, 'home', 'log');
  const log = await openEmbeddedLog({ dir, maintainEveryMs: null });
  const event = { ...blankEvent(), session_id: 's', event_id: 'e' };
  await log.publish([{ topic: 'trace.raw', key: 's', value: event }]);
  await log.close();
  await inject(dir, 'trace.raw', 's', Buffer.from('no record'));
  await vi.waitFor(
    async () => {
      const now = await scrape();
      expect(now).toContain('flipstream_dead_letters_total{part="streams"} 1\n');
      expect(now).toMatch(/flipstream_consumed_total\{topic="trace.raw",part="streams"\} [12]\n/);
      expect(now).toContain('flipstream_published_total{topic="trace.events",part="streams"} 1\n');
      expect(now).toContain('flipstream_consumed_total{topic="trace.events",part="sink"} 1\n');
      expect(now).toContain('flipstream_warehouse_rows{table="deadletter",part="sink"} 1\n');
      expect(now.match(/^# TYPE flipstream_up /gm)).toHaveLength(1);
    },
    { timeout: 30_000, interval: 250 },
  );

  process.kill(pids.sink ?? 0, 'SIGSTOP');
  const without = await scrape();
  process.kill(pids.sink ?? 0, 'SIGCONT');
  expect(without).toContain('flipstream_up{part="sink"} 0\n');
  expect(without).toContain('flipstream_dead_letters_total{part="streams"} 1\n');

  const ended = once(up, 'exit');
  up.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

test('a part that runs alone tells of itself at a port of its own', async () => {
  up = spawn(process.execPath, [mainScript(), 'up', '--role', 'collector', '--metrics-port', '0'], {
    env: box.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (!up.stderr) throw new Error('no stderr');
  let url: string | undefined;
  for await (const line of createInterface({ input: up.stderr })) {
    url = LogLine.parse(JSON.parse(line)).url;
    if (url !== undefined) break;
  }
  const text = await (await fetch(String(url))).text();
  expect(text).toContain('flipstream_up{part="collector"} 1\n');
});

test('a part that fails ends with its process, so that whoever looks after it starts it again', async () => {
  const home = layout(join(box.root, 'home'));
  await landSample(home);
  up = spawn(process.execPath, [mainScript(), 'up', '--role', 'sink', '--metrics-port', '0'], {
    env: box.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (!up.stderr) throw new Error('no stderr');
  const ended = once(up, 'exit');
  const codes: (string | undefined)[] = [];
  for await (const line of createInterface({ input: up.stderr })) {
    const { code, msg } = LogLine.parse(JSON.parse(line));
    codes.push(code);
    if (msg !== 'runs') continue;
    const events = tableDir(home.warehouse, 'events');
    writeFileSync(commitPath(events, (await readSnapshot(events)).version + 1), 'half a com');
    const log = await openEmbeddedLog({ dir: home.log, maintainEveryMs: null });
    await log.publish([
      { topic: 'trace.events', key: 's', value: { ...blankEvent(), session_id: 's', event_id: 'e' } },
    ]);
    await log.close();
  }
  expect(await ended).toEqual([1, null]);
  expect(codes).toContain('delta_commit_damaged');
});
