import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { deadLetter } from '../../log/deadletter.ts';
import { layout } from '../../producers/home.ts';
import type { TopicName } from '../../schemas/topics.ts';
import { ensureReviewer } from '../init/reviewer.ts';
import { openLog } from '../open-log.ts';
import { type Sandbox, sandbox } from '../testing.ts';

const BYTES = Buffer.from([0, 1, 2, 3]);

let box: Sandbox;
let home: ReturnType<typeof layout>;
beforeEach(async () => {
  box = sandbox();
  home = layout(join(box.root, 'home'));
  await ensureReviewer(home);
});
afterEach(() => box.remove());

/** A record that cannot be used, and the letter of each group about it. @returns its id. */
async function setAside(topic: TopicName, groups: readonly string[]): Promise<string> {
  const log = await openLog({ home, engine: {} });
  await log.putBack([{ topic, key: 'k', value: BYTES }], []);
  let partition = 0;
  while (!(await log.bytesAt(topic, partition, 0))) partition++;
  const record = { offset: 0, timestamp: 0, key: 'k', value: BYTES };
  const refused = { record, reason: 'bad_frame', message: '4 bytes are too few' };
  const seal = async (bytes: Buffer) => bytes;
  await log.publish(groups.map((group) => deadLetter({ topic, partition, group }, refused, 0, seal)));
  await log.close();
  return `${topic}/${partition}@0`;
}

/** Bytes at an offset of the record's partition. */
async function bytesAt(id: string, offset: number): Promise<Buffer | undefined> {
  const log = await openLog({ home, engine: {} });
  const partition = Number(/\/(\d+)@/.exec(id)?.[1]);
  const stored = await log.bytesAt('trace.raw', partition, offset);
  await log.close();
  return stored?.value;
}

const list = async (...flags: string[]) =>
  z
    .array(z.looseObject({ id: z.string(), state: z.string() }))
    .parse((await box.flipstream(['deadletter', 'list', '--json', ...flags])).json());

test('a record that was set aside is listed with reason and place, shown, and put back as it was, once', async () => {
  const id = await setAside('trace.raw', ['redact', 'other']);
  expect(await list()).toMatchObject([
    {
      id,
      reason: 'bad_frame',
      source_topic: 'trace.raw',
      source_offset: 0,
      groups: ['redact', 'other'],
      state: 'waiting',
      bytes_kept: true,
    },
  ]);
  const shown = await box.flipstream(['deadletter', 'show', id, '--out', 'bytes']);
  expect(shown.out).toContain(`flipstream deadletter retry ${id}`);
  expect(readFileSync(join(box.root, 'bytes'))).toEqual(BYTES);

  expect(await box.flipstream(['deadletter', 'retry', id])).toMatchObject({ code: 0, err: '' });
  expect(await bytesAt(id, 1)).toEqual(BYTES);
  expect(await list()).toEqual([]);
  expect(await list('--all')).toMatchObject([{ id, state: 'put_back' }]);
  expect(await box.flipstream(['deadletter', 'retry', id])).toMatchObject({ code: 3 });
  expect(await bytesAt(id, 2)).toBeUndefined();
});

test('two who put the same record back at once put it back once', async () => {
  const id = await setAside('trace.raw', ['redact']);
  const both = await Promise.all([1, 2].map(() => box.flipstream(['deadletter', 'retry', id])));
  expect(both.map(({ code }) => code).sort()).toEqual([0, 3]);
  expect([await bytesAt(id, 1), await bytesAt(id, 2)]).toEqual([BYTES, undefined]);
});

test('what would count twice or undo something newer stays, with the reason', async () => {
  await setAside('trace.events', ['join']);
  await setAside('sessions', ['metrics-session']);
  const ran = await box.flipstream(['deadletter', 'retry', '--all']);
  expect(ran.code).toBe(3);
  expect(ran.out).toMatch(/0 put back, 2 left/);
  expect(ran.out).toMatch(/sink took it and would count it twice/);
  expect(ran.out).toMatch(/keeps the last value of each key/);
});

test('an event that the sink refused too goes back', async () => {
  await setAside('trace.events', ['join', 'sink']);
  expect((await box.flipstream(['deadletter', 'retry', '--topic', 'trace.events'])).code).toBe(0);
});

test('an id that is none, and no choice at all, are said', async () => {
  await setAside('trace.raw', ['redact']);
  expect(await box.flipstream(['deadletter', 'show', 'x'])).toMatchObject({ code: 2 });
  expect(await box.flipstream(['deadletter', 'retry'])).toMatchObject({ code: 2 });
});
