/** Whose fault it was: the machine's is ERROR and tried again, and nothing stays in the engine. */
import { spawnSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { containerRunner } from '../../oracle/runner/container.ts';
import { outcomeOf } from '../../oracle/runner/outcome.ts';
import { ownerId } from '../../oracle/runner/owner.ts';
import { ORACLE_HOST } from '../support/container-task.ts';
import { docker } from '../support/docker-engine.ts';
import { noContainers, testImage } from '../support/docker-image.ts';
import { ours, shell } from '../support/shell-task.ts';

const skipped = await noContainers();

describe.skipIf(skipped !== null)('faults around containers', () => {
  afterEach(async () => expect(await ours()).toEqual([]));

  test('O5 no engine, no image, no mirror, an unknown runtime: ERROR with its class, and PASS when it is mended', async () => {
    const task = await shell();
    const fix = task.diffOf({ 'src/run.sh': 'exit 0\n' });
    const fault = async (runner: ReturnType<typeof containerRunner>, job = task.job) =>
      (await runner.run({ ...job, diff: fix })).fault?.class;
    const here = containerRunner({ oracleHost: ORACLE_HOST });
    const gone = containerRunner({ oracleHost: ORACLE_HOST, socketPath: '/nowhere/docker.sock' });
    expect(await fault(gone)).toBe('daemon_down');
    await gone.sweep();
    const image = `sha256:${'0'.repeat(64)}`;
    expect(await fault(here, { ...task.job, definition: { ...task.job.definition, image } })).toBe(
      'image_missing',
    );
    expect(await fault(containerRunner({ oracleHost: ORACLE_HOST, runtime: 'none-such' }))).toBe(
      'image_unusable',
    );
    const tooFew = { ...task.job.definition, limits: { memory_mb: 64, cpus: 1, pids: 2 } };
    expect(await fault(here, { ...task.job, definition: tooFew })).toBe('image_unusable');
    renameSync(task.job.mirror, `${task.job.mirror}.away`);
    expect(await fault(here)).toBe('mirror_unreadable');
    renameSync(`${task.job.mirror}.away`, task.job.mirror);
    expect(await fault(here)).toBeUndefined();
  });

  test('O5 a container that is taken away while it works is tried again, and is no FAIL', async () => {
    const { run, diffOf } = await shell({}, { suite: 'sleep 1', hidden: ['sleep 2; sh src/run.sh'] });
    for (const count of [2, 1]) {
      const running = run(diffOf({ 'src/run.sh': 'exit 0\n' }));
      await vi.waitFor(async () => expect(await ours()).toHaveLength(2), 20_000);
      const [one] = await vi.waitFor(async () => {
        const found = await ours();
        expect(found).toHaveLength(count);
        return found;
      }, 20_000);
      await docker.getContainer(one?.Id ?? '').kill();
      expect(outcomeOf(await running)).toMatchObject({ code: 'PASS' });
    }
  });

  test('an aborted run rejects and leaves nothing', async () => {
    const { run } = await shell({}, { suite: 'sleep 60' });
    const aborter = new AbortController();
    const running = run(null, { signal: aborter.signal });
    const rejected = expect(running).rejects.toThrow();
    await vi.waitFor(async () => expect(await ours()).toHaveLength(2), 20_000);
    aborter.abort();
    await rejected;
  });

  test('a start sweeps what a killed service left, and nothing of one that lives', async () => {
    const Image = (await testImage()) ?? '';
    const start = async (owner: string) => {
      const Labels = { 'flipstream.oracle': ORACLE_HOST, 'flipstream.owner': owner };
      const made = await docker.createContainer({
        Image,
        Cmd: ['sleep', '300'],
        Labels,
        HostConfig: { AutoRemove: true },
      });
      onTestFinished(() => made.remove({ force: true }).catch(() => {}));
      await made.start();
      return made.id;
    };
    await start(`${spawnSync('true').pid}-12345`);
    await start(`${process.pid}-1`);
    const alive = await start(ownerId());
    await containerRunner({ oracleHost: ORACLE_HOST }).sweep();
    expect((await ours()).map(({ Id }) => Id)).toEqual([alive]);
    await docker.getContainer(alive).remove({ force: true });
  });
});
