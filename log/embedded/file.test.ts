import { randomBytes } from 'node:crypto';
import { mkdirSync, openSync, readFileSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { event, everything, upTo } from '../conformance/rig.ts';
import { type EmbeddedRig, embeddedRig } from './testing.ts';

async function rigged(body: (rig: EmbeddedRig) => Promise<void>): Promise<void> {
  const rig = await embeddedRig();
  try {
    await body(rig);
  } finally {
    await rig.close();
  }
}

/** Incompressible, so that the size of the file follows the number of records. */
const noise = (n: number) => event('k', n, randomBytes(20_000).toString('hex'));

test('a file that is no database is refused by name and left as it is', () =>
  rigged(async (rig) => {
    for (const content of ['my notes\n'.repeat(200), 'x']) {
      writeFileSync(rig.path, content);
      await expect(rig.open()).rejects.toMatchObject({ code: 'log_not_ours', kind: 'fatal' });
      expect(readFileSync(rig.path, 'utf8')).toBe(content);
    }
  }));

test('a database of another program is refused by name and left as it is', () =>
  rigged(async (rig) => {
    const theirs = new DatabaseSync(rig.path);
    theirs.exec('CREATE TABLE mine (x); INSERT INTO mine VALUES (1)');
    theirs.close();
    const before = readFileSync(rig.path);
    await expect(rig.open()).rejects.toMatchObject({ code: 'log_not_ours' });
    expect(readFileSync(rig.path).equals(before)).toBe(true);
  }));

test('a file of a newer release is refused, with what to do', () =>
  rigged(async (rig) => {
    await (await rig.open()).close();
    const db = new DatabaseSync(rig.path);
    db.exec('PRAGMA user_version = 2');
    db.close();
    await expect(rig.open()).rejects.toMatchObject({
      code: 'log_newer',
      message: expect.stringContaining('update flipstream'),
    });
  }));

test('a file cut short is refused: at nothing, in its header, in its middle', () =>
  rigged(async (rig) => {
    const log = await rig.open();
    await log.publish(upTo(20).map(noise));
    await log.close();
    const { size } = statSync(rig.path);
    const half = Math.floor(size / 2);
    const header = 'bytes are left, which is not even its header of 100';
    for (const [left, said] of [
      [half, `${half} bytes are left of ${size}`],
      [60, `60 ${header}`],
      [0, `0 ${header}`],
    ] as const) {
      truncateSync(rig.path, left);
      const message = expect.stringContaining(said);
      await expect(rig.open()).rejects.toMatchObject({ code: 'log_damaged', kind: 'fatal', message });
    }
  }));

test('a file damaged in its middle is named when the damage is met, not read past', () =>
  rigged(async (rig) => {
    const log = await rig.open();
    await log.publish(upTo(40).map(noise));
    await log.close();
    const fd = openSync(rig.path, 'r+');
    const from = 30 * 8192;
    writeSync(fd, Buffer.alloc(statSync(rig.path).size - from, 0xff), 0, undefined, from);
    const again = await rig.open();
    await expect(everything(again, 'trace.raw')).rejects.toMatchObject({ code: 'log_damaged' });
  }));

test('a directory that cannot be one is named', () =>
  rigged(async (rig) => {
    mkdirSync(rig.path);
    await expect(rig.open()).rejects.toMatchObject({ code: 'log_unopenable' });
  }));

test('a full disk: publishing fails as retryable, nothing of the call is taken, and it goes on with space', () =>
  rigged(async (rig) => {
    const log = await rig.open({ maxBytes: 2 ** 20 });
    await log.publish([noise(1)]);
    await expect(log.publish(upTo(100).map((n) => noise(n + 1)))).rejects.toMatchObject({
      code: 'log_full',
      kind: 'retryable',
    });
    expect((await everything(log, 'trace.raw')).map((one) => one.value.seq)).toEqual([1]);
    await log.close();
    const roomy = await rig.open();
    await roomy.publish(upTo(100).map((n) => noise(n + 1)));
    expect(await everything(roomy, 'trace.raw')).toHaveLength(101);
  }));

test('many that start at once share one file; what is in it is for its owner alone', () =>
  rigged(async (rig) => {
    const logs = await Promise.all(upTo(8).map(() => rig.open()));
    expect(new Set(await Promise.all(logs.map((log) => log.idOf('flips')))).size).toBe(1);
    await Promise.all(logs.map((log, n) => log.publish([event('k', n)])));
    expect(await everything(await rig.open(), 'trace.raw')).toHaveLength(8);
    if (process.platform !== 'win32') {
      for (const suffix of ['', '-wal', '-shm']) expect(statSync(rig.path + suffix).mode & 0o777).toBe(0o600);
    }
  }));

test('partitions are fixed when the file is made', () =>
  rigged(async (rig) => {
    await (await rig.open({ partitions: 1 })).close();
    expect(await (await rig.open({ partitions: 7 })).partitions('flips')).toBe(1);
    await expect(rig.open({ partitions: 0 })).rejects.toMatchObject({
      code: 'bad_partitions',
      kind: 'usage',
    });
  }));
