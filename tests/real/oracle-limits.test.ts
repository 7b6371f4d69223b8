/** What a task's limits and the oracle's settings become: what the engine was told of a container that runs. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { containerRunner } from '../../oracle/runner/container.ts';
import type { Runner } from '../../oracle/runner/runner.ts';
import { makeOracle, temporaryDirectory } from '../../oracle/testing.ts';
import { makeTask, ORACLE_HOST } from '../support/container-task.ts';
import { docker } from '../support/docker-engine.ts';
import { noContainers } from '../support/docker-image.ts';

const skipped = await noContainers();
const MEBIBYTE = 2 ** 20;
const LIMITS = { memory_mb: 96, cpus: 0.75, pids: 48 };

/** The runner that the service has in a home whose key is for containers, with these settings. */
function homeWith(settings: object): { runner: Runner; oracleHost: string } {
  const root = join(temporaryDirectory(), 'home');
  makeOracle({ root, runner: containerRunner({ oracleHost: ORACLE_HOST }) }).close();
  writeFileSync(join(root, 'settings.json'), JSON.stringify(settings), { mode: 0o600 });
  return makeOracle({ root });
}

async function smallTask(runner: Runner) {
  const made = await makeTask(
    {
      files: { 'src/run.sh': 'exit 1\n' },
      hidden: { 'hidden/h.txt': 'h\n' },
      task: { suite: 'sleep 2', hidden: ['sh src/run.sh'], limits: LIMITS },
    },
    { runner },
  );
  onTestFinished(made.remove);
  return made;
}

/** What the engine was told of both containers of a run, while it works. */
async function whileRunning(oracleHost: string) {
  const filters = { label: [`flipstream.oracle=${oracleHost}`] };
  return vi.waitFor(
    async () => {
      const found = await docker.listContainers({ filters });
      expect(found).toHaveLength(2);
      return Promise.all(found.map(({ Id }) => docker.getContainer(Id).inspect()));
    },
    { timeout: 20_000, interval: 50 },
  );
}

describe.skipIf(skipped !== null)('limits', () => {
  test('O8 the engine holds both containers to all of the task\u2019s limits, under the runtime of settings.json', async () => {
    const { Runtimes, DefaultRuntime } = await docker.info();
    const runtime = Object.keys(Runtimes).find((name) => name !== DefaultRuntime);
    if (runtime === undefined) throw new Error(`the engine knows no runtime beside ${DefaultRuntime}`);
    const { runner, oracleHost } = homeWith({ runtime });
    const task = await smallTask(runner);
    const running = task.run(null);
    const memory = LIMITS.memory_mb * MEBIBYTE;
    for (const { HostConfig, Config } of await whileRunning(oracleHost)) {
      expect(HostConfig).toMatchObject({
        ...{ Memory: memory, MemorySwap: memory, PidsLimit: LIMITS.pids, NanoCpus: LIMITS.cpus * 1e9 },
        ...{
          NetworkMode: 'none',
          ReadonlyRootfs: true,
          Privileged: false,
          IpcMode: 'private',
          AutoRemove: true,
        },
        ...{ CapDrop: ['ALL'], CapAdd: null, SecurityOpt: ['no-new-privileges'], ShmSize: memory / 16 },
        ...{ Binds: null, Devices: null, PidMode: '', Runtime: runtime, LogConfig: { Type: 'none' } },
        Ulimits: expect.arrayContaining([
          { Name: 'fsize', Soft: memory, Hard: memory },
          { Name: 'core', Soft: 0, Hard: 0 },
          { Name: 'nofile', Soft: 4096, Hard: 4096 },
        ]),
      });
      const sizes = Object.entries(HostConfig.Tmpfs ?? {}).map(([path, options]) => [
        path,
        Number(/(?:^|,)size=(\d+)/.exec(options)?.[1]) / memory,
      ]);
      expect(Object.fromEntries(sizes)).toEqual({ '/work': 1 / 2, '/scratch': 1 / 4, '/tmp': 1 / 8 });
      expect(Config).toMatchObject({ NetworkDisabled: true });
    }
    expect((await running).fault).toBeNull();
  });

  test('a runtime of settings.json that the engine does not know is the machine\u2019s fault, by its name', async () => {
    const { runner } = homeWith({ runtime: 'no-such-runtime' });
    const { fault } = await (await smallTask(runner)).run(null);
    expect(fault).toMatchObject({ message: expect.stringContaining('no-such-runtime') });
  });
});
