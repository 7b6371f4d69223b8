/** The oracle's service at the size that issue 5 asks for; too long for every run of the tests. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ensureOracleHome, oracleLayout } from '../../oracle/home.ts';
import { initKey } from '../../oracle/keys/key.ts';
import { askFromHosts } from '../../oracle/service/testing-hosts.ts';
import { type Killed, killAtRandom, quickGrades } from '../../oracle/service/testing-kills.ts';
import { taskAdd } from '../../oracle/tasks/add.ts';
import { taskCheck } from '../../oracle/tasks/check.ts';
import {
  demoPatch,
  makeOracle,
  makeRepository,
  taskDirectory,
  temporaryDirectory,
} from '../../oracle/testing.ts';
import { docker } from '../support/docker-engine.ts';
import { noContainers, testImage } from '../support/docker-image.ts';

const skipped = await noContainers();

test('1,000 requests from 20 hosts at once: none lost, none answered for another', async () => {
  const waited = await askFromHosts({ hosts: 20, each: 50 });
  expect(waited).toHaveLength(1000);
  const at = (share: number) => Math.round(waited[Math.floor(share * (waited.length - 1))] ?? 0);
  console.info(
    `1,000 requests from 20 hosts, waited: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`,
  );
}, 120_000);

test('the service killed at 50 random moments: no answered verdict lost, none twice, the chain unbroken', async () => {
  await killAtRandom(await quickGrades(), 50, 200);
}, 300_000);

/** The demo's task, graded in containers. */
async function inContainers(): Promise<Killed> {
  const root = join(temporaryDirectory(), 'home');
  ensureOracleHome(oracleLayout(root));
  initKey(oracleLayout(root), 'container');
  const oracle = makeOracle({ root });
  const node = { framework: 'node:test', suite: ['test/bill.test.js'], hidden: [['test/bill-rest.test.js']] };
  const task = { ...node, runner: 'container', image: await testImage(), reference: 'fix.patch' };
  const directory = taskDirectory(makeRepository(), task);
  writeFileSync(join(directory, 'fix.patch'), demoPatch('fix'));
  await taskAdd(oracle, directory);
  const { row } = await taskCheck(oracle, 'demo-split-bill');
  expect(row).toMatchObject({ status: 'ready', reason: null });
  // A comment of its own, so that none comes from the cache.
  const diffOf = (at: number) => {
    const patch = demoPatch(at % 3 === 0 ? 'fix' : 'wrong').toString();
    return patch.replace(/^\+(?!\+\+).*$/m, (line) => `${line} // ${at}`);
  };
  return { oracle, row, diffOf, pauseMs: [0, 6000] };
}

test.skipIf(skipped !== null)(
  'the same with containers: and none is left in the engine',
  async () => {
    const killed = await inContainers();
    await killAtRandom(killed, 50, 15);
    const filters = { label: [`flipstream.oracle=${killed.oracle.oracleHost}`] };
    expect(await docker.listContainers({ all: true, filters })).toEqual([]);
  },
  1_200_000,
);
