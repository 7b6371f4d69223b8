/** The oracle's service at the size that issue 5 asks for; too long for every run of the tests. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { ensureOracleHome, oracleLayout } from '../../oracle/home.ts';
import { initKey } from '../../oracle/keys/key.ts';
import { openDesk } from '../../oracle/service/desk.ts';
import { askFromHosts } from '../../oracle/service/testing-hosts.ts';
import { type Killed, killAtRandom, quickGrades } from '../../oracle/service/testing-kills.ts';
import { nextEdge, realTimers } from '../../oracle/service/timers.ts';
import { taskAdd } from '../../oracle/tasks/add.ts';
import { taskCheck } from '../../oracle/tasks/check.ts';
import {
  demoPatch,
  gradeRequest,
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

test('O7 with constant_time a diff that hangs, one that is refused and one that passes are answered at one moment', async () => {
  const oracle = makeOracle();
  const task = { reference: 'fix.patch', constant_time: true, timeout_s: 2 };
  const directory = taskDirectory(makeRepository(), task);
  writeFileSync(join(directory, 'fix.patch'), demoPatch('fix'));
  await taskAdd(oracle, directory);
  const { row, constant_ms } = await taskCheck(oracle, 'demo-split-bill');
  const fix = demoPatch('fix').toString();
  const changed = (line: string) =>
    fix
      .replace(/^\+(?!\+\+).*$/m, (first) => `+${line}\n${first}`)
      .replace(/^(@@ .*\+\d+,)(\d+)/m, (_, head, count) => `${head}${Number(count) + 1}`);
  const diffs = [
    'no diff',
    demoPatch('wrong').toString(),
    changed('for (;;);'),
    changed('process.exit(1);'),
    fix,
  ];
  const timers = realTimers();
  const desk = openDesk(oracle, {
    ...{ timers, bucketMs: 5000, concurrency: diffs.length, queueLimit: 0, maxDiffBytes: 100_000 },
    ...{ logger: pino({ level: 'silent' }), onRelease: () => {} },
  });
  onTestFinished(() => desk.stop());
  // All in one bucket: whatever differs then is what was run.
  await new Promise<void>((resolve) => timers.at(nextEdge(timers.now(), 5000), resolve));
  const asked = timers.now();
  const answers = await Promise.all(
    diffs.map(async (diff, at) => {
      const request = gradeRequest(row, diff, { session_id: `s${at}` });
      const code = await desk.ask({ name: 'host', tasks: ['*'] }, request, 'same_host');
      return [code, Math.floor((timers.now() - asked) / 5000)];
    }),
  );
  const edge = Math.ceil((constant_ms ?? 0) / 5000);
  expect(answers).toEqual(['FAIL', 'FAIL', 'FAIL', 'FAIL', 'PASS'].map((code) => [code, edge]));
}, 120_000);

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
