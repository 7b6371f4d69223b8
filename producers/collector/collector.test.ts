import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { countLoss } from '../spool/losses.ts';
import { ask, entry, spool, told } from './testing.ts';
import {
  aWorldForEachTest,
  chain,
  drained,
  kinds,
  lines,
  start,
  stop,
  waiting,
  world,
} from './testing-collector.ts';

aWorldForEachTest();

test('what is in the spool becomes a chain in the log and in the trace file, and then leaves the spool', async () => {
  spool(
    world.home,
    entry(told.start({ task_id: 't', _max_attempts: 2 })),
    entry(told.prompt('hi')),
    entry(told.end()),
  );
  await start();
  await drained();
  expect(kinds(chain())).toEqual(['session_start', 'message', 'session_end']);
  expect(lines().map((line) => [line.seq, line.prev ?? null])).toEqual(
    world.log.events.map(({ seq, prev }) => [seq, prev]),
  );
  expect(world.log.events[0]).toMatchObject({
    task_id: 't',
    capture: 'same_user',
    transport: 'command',
    turn: 0,
  });
  await vi.waitFor(() => expect(waiting()).toEqual([]));
});

test('a lost collector.db: the session goes on in a chain of another id, with no fork', async () => {
  spool(world.home, entry(told.start()), entry(told.prompt('one')));
  const first = await start();
  await drained();
  await stop(first);
  for (const suffix of ['', '-wal', '-shm']) rmSync(world.home.collectorDb + suffix, { force: true });
  spool(world.home, entry(told.prompt('two')));
  await start();
  await drained();
  const places = world.log.events.map(({ chain_id, seq }) => `${chain_id}/${seq}`);
  expect(new Set(places).size).toBe(places.length);
  expect(new Set(world.log.events.map(({ chain_id }) => chain_id)).size).toBe(2);
});

test('C3 parallel tool calls: 32 hooks at once on one session are 32 events, each whole, one chain', async () => {
  await start();
  await Promise.all(
    Array.from({ length: 32 }, async (_, n) => spool(world.home, entry(told.callStarted(`t${n}`)))),
  );
  await drained();
  const events = chain();
  expect(new Set(events.map((event) => event.input_redacted))).toEqual(
    new Set(Array.from({ length: 32 }, (_, n) => `{"of":"t${n}"}`)),
  );
});

test('C4 the hook registered twice: every event once', async () => {
  for (const registration of ['settings', 'plugin']) {
    spool(world.home, entry(told.prompt('hi'), { registration, at: 1 }));
    spool(world.home, entry(told.callStarted('t1'), { registration, at: 2 }));
    spool(world.home, entry(told.callEnded('t1'), { registration, at: 3 }));
    spool(world.home, entry(told.batch('t1'), { registration, at: 4 }));
    spool(world.home, entry(told.end(), { registration, at: 5 }));
  }
  await start();
  await drained();
  expect(kinds(chain())).toEqual(['message', 'call_started', 'tool_call', 'session_end']);
});

test('C2 resuming a session: one more session_start, nothing twice, the chain goes on over a restart', async () => {
  spool(world.home, entry(told.start({})), entry(told.prompt('one')), entry(told.end()));
  const first = await start();
  await drained();
  await stop(first);
  spool(world.home, entry(told.start({ source: 'resume' })), entry(told.prompt('two')));
  await start();
  await drained();
  const events = chain();
  expect(kinds(events)).toEqual(['session_start', 'message', 'session_end', 'session_start', 'message']);
  expect(events.map((event) => event.source)).toEqual(['startup', null, null, 'resume', null]);
  expect(events.at(-1)?.turn).toBe(2);
});

test('C7 no SessionEnd: closed as aborted after the quiet period, opened again if it goes on', async () => {
  spool(world.home, entry(told.start({})), entry(told.callStarted('t1')));
  await start({ settings: { v: 1, quiet_ms: 120_000 } });
  await drained();
  world.now += 121_000;
  await vi.waitFor(() => expect(kinds(chain())).toContain('session_end'));
  expect(chain().at(-1)).toMatchObject({ outcome: 'aborted', synthetic: true, transport: null });
  expect(chain().at(-2)).toMatchObject({ type: 'tool_call', status: 'interrupted' });
  spool(world.home, entry(told.callEnded('t1')), entry(told.batch('t1')), entry(told.end()));
  await drained();
  expect(chain().at(-2)).toMatchObject({ type: 'tool_call', status: 'ok' });
  expect(chain().at(-1)).toMatchObject({ type: 'session_end', synthetic: null });
});

test('C8 two processes share one session id: nothing is lost, and it is one chain', async () => {
  const two = (name: string) => [
    entry(told.start({}), { payload: `${name} start` }),
    entry(told.prompt(name)),
    entry(told.callEnded(`${name}1`)),
    entry(told.end(), { payload: `${name} end` }),
  ];
  const [a, b] = [two('a'), two('b')];
  for (const [index, one] of a.entries()) spool(world.home, one, ...b.slice(index, index + 1));
  await start();
  await drained();
  expect(kinds(chain()).sort()).toEqual([
    'message',
    'message',
    'session_end',
    'session_end',
    'session_start',
    'session_start',
    'tool_call',
    'tool_call',
  ]);
});

test('C10 nothing depends on the harness’s own files', async () => {
  const transcript = join(world.home.root, 'transcript.jsonl');
  writeFileSync(transcript, '{}');
  spool(world.home, entry(told.start({ transcript_path: transcript })), entry(told.prompt('hi')));
  rmSync(transcript);
  await start();
  await drained();
  expect(chain()).toHaveLength(2);
});

test('two collectors at once: the second says so and harms nothing', async () => {
  const first = await start();
  await expect(start()).rejects.toMatchObject({ code: 'collector_running', kind: 'usage' });
  spool(world.home, entry(told.prompt('hi')));
  await drained();
  await stop(first);
  await start();
  await drained();
  expect(chain()).toHaveLength(1);
});

test('an entry that cannot be read is set aside and stops nobody', async () => {
  writeFileSync(join(world.home.spool, 'new', '0000000000000000-1-a.json'), '{"v":1,');
  writeFileSync(join(world.home.spool, 'new', '0000000000000000-1-b.json'), JSON.stringify({ v: 2 }));
  spool(world.home, entry(told.prompt('hi')));
  await start();
  await drained();
  expect(chain()).toHaveLength(1);
  expect(readdirSync(join(world.home.spool, 'bad'))).toHaveLength(2);
  expect(await ask(world.home, '/status')).toMatchObject({ unreadable: 2 });
});

test('P7 what an older release set aside, written by a newer hook, is read by the one that can', async () => {
  const { spool: place } = world.home;
  spool(world.home, entry(told.prompt('from a newer hook')));
  renameSync(join(place, 'new'), join(place, 'bad'));
  await start();
  await drained();
  expect(chain().map((event) => event.text_redacted)).toEqual(['from a newer hook']);
  expect(readdirSync(join(place, 'bad'))).toEqual([]);
});

test('an entry that breaks the assembler is set aside too, with its neighbours whole', async () => {
  const broken = entry(told.prompt('x'));
  const deep = { ...broken, session_id: 's1', ts: '2026-99-99T00:00:00.000Z' };
  spool(world.home, entry(told.prompt('before')), deep, entry(told.prompt('after')));
  await start();
  await drained();
  expect(chain().map((event) => event.text_redacted)).toEqual(['before', 'after']);
  expect(readdirSync(join(world.home.spool, 'bad'))).toHaveLength(1);
});

test('a clock that jumps back: ts may go back, seq never does', async () => {
  spool(world.home, entry(told.prompt('late'), { at: 50_000 }), entry(told.prompt('early'), { at: 10 }));
  await start();
  await drained();
  expect(chain().map((event) => event.text_redacted)).toEqual(['late', 'early']);
  expect((chain()[0]?.ts ?? '') > (chain()[1]?.ts ?? '')).toBe(true);
});

test('a clock that had been ahead keeps no session open for ever', async () => {
  spool(world.home, entry(told.prompt('from 2030'), { at: 4 * 365 * 86_400_000 }));
  await start({ settings: { v: 1, quiet_ms: 1_000 } });
  await drained();
  world.now += 2_000;
  await vi.waitFor(() => expect(chain().at(-1)).toMatchObject({ type: 'session_end', outcome: 'aborted' }));
});

test('counted losses become a notice with their count, once', async () => {
  spool(world.home, entry(told.start({})), entry(told.end()));
  await start();
  await drained();
  for (let n = 0; n < 3; n++) expect(countLoss(world.home)).toBe(true);
  await vi.waitFor(() => expect(chain().at(-1)).toMatchObject({ kind: 'events_lost', count: 3 }));
  spool(world.home, entry(told.notice('later')));
  await drained();
  expect(chain().filter((event) => event.kind === 'events_lost')).toHaveLength(1);
});

test('fields that the schema does not know or cannot hold are left out; the rest stays', async () => {
  spool(
    world.home,
    entry(
      told.notice('odd', {
        duration_ms: 1.6,
        exit_code: 'three',
        brand_new: 1,
        seq: 77,
        v: 9,
        cwd: '\ud800x',
      }),
    ),
  );
  await start();
  await drained();
  expect(chain()[0]).toMatchObject({ seq: 0, v: 1, duration_ms: 2, exit_code: null, cwd: '\ufffdx' });
});

test('it leaves no socket behind, and a path too long for one is said', async () => {
  await stop(await start());
  expect(existsSync(world.home.collectorSocket)).toBe(false);
  const long = { ...world.home, collectorSocket: `${world.home.collectorSocket}${'x'.repeat(120)}` };
  await expect(start({ home: long })).rejects.toMatchObject({ code: 'socket_path_too_long' });
  await start();
});
