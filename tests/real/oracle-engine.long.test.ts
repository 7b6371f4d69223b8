/** An engine that is killed while it works, and one whose disk is full: the machine's fault, never a FAIL. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { containerRunner } from '../../oracle/runner/container.ts';
import { type ContainerTask, makeTask, ORACLE_HOST } from '../support/container-task.ts';
import { ensureEngine } from '../support/docker-engine.ts';
import { type OwnEngine, ownEngine } from '../support/own-engine.ts';
import { mountSmallDisk, noSmallDisk, type SmallDisk } from '../support/small-disk.ts';

const skipped = (await ensureEngine()) ?? noSmallDisk();
if (skipped && process.env.CI) throw new Error(`CI may not skip this: ${skipped}`);

let disk: SmallDisk;
let engine: OwnEngine;
let task: ContainerTask;
const place = mkdtempSync(join(tmpdir(), 'fs-engine-'));

const RIGHT = { 'src/run.sh': 'exit 0\n' };
const containers = () => engine.docker.listContainers({ all: true });
const PATIENCE = { timeout: 60_000, interval: 200 };

describe.skipIf(skipped !== null)('an engine of its own', () => {
  beforeAll(async () => {
    disk = mountSmallDisk(512);
    engine = await ownEngine(place, join(disk.path, 'data'));
    task = await makeTask(
      {
        files: { 'src/run.sh': 'exit 1\n', 'keep.txt': 'kept\n' },
        hidden: { 'hidden/h.txt': 'h\n' },
        task: { suite: 'sleep 3', hidden: ['sleep 1; sh src/run.sh'], limits: { memory_mb: 64, pids: 64 } },
      },
      {
        image: engine.image,
        runner: containerRunner({ oracleHost: ORACLE_HOST, socketPath: engine.socketPath }),
      },
    );
    expect(await task.grade(task.diffOf(RIGHT))).toMatchObject({ code: 'PASS' });
  });
  afterAll(async () => {
    await engine?.end('SIGTERM');
    task?.remove();
    disk?.remove();
    // an engine that was killed leaves mounts
    rmSync(place, { recursive: true, force: true, maxRetries: 3 });
  });

  test('O5 killed while a grade runs, and started again: the grade is run again, and nothing is left', async () => {
    const grading = task.grade(task.diffOf(RIGHT));
    await vi.waitFor(async () => expect(await containers()).toHaveLength(2), PATIENCE);
    await engine.end('SIGKILL');
    await engine.start();
    expect(await grading).toMatchObject({ code: 'PASS' });
    await vi.waitFor(async () => expect(await containers()).toEqual([]), PATIENCE);
  });

  test('O5 stopped while a grade runs, and not started again: ERROR; PASS when it is back', async () => {
    const grading = task.grade(task.diffOf(RIGHT));
    await vi.waitFor(async () => expect(await containers()).toHaveLength(2), PATIENCE);
    await engine.end('SIGTERM');
    // While it goes it may answer once more: which of the two it is, is chance.
    const reason = expect.stringMatching(/^(daemon_down|engine_lost)/);
    expect(await grading).toMatchObject({ code: 'ERROR', reason });
    await engine.start();
    expect(await task.grade(task.diffOf(RIGHT))).toMatchObject({ code: 'PASS' });
    await vi.waitFor(async () => expect(await containers()).toEqual([]), PATIENCE);
  });

  test('O5 the host\u2019s disk is full: ERROR; PASS when there is room', async () => {
    disk.fill();
    expect(await task.grade(task.diffOf(RIGHT))).toMatchObject({
      code: 'ERROR',
      reason: expect.stringContaining('disk_full'),
    });
    disk.free();
    expect(await task.grade(task.diffOf(RIGHT))).toMatchObject({ code: 'PASS' });
    await vi.waitFor(async () => expect(await containers()).toEqual([]), PATIENCE);
  });
});
