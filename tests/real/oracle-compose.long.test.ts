/** deploy/oracle/docker-compose.yml: the oracle as a container that grades with the engine beside it. Its image cannot be built here; the test image has the same in it. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { ensureOracleHome, oracleLayout } from '../../oracle/home.ts';
import { initKey } from '../../oracle/keys/key.ts';
import { createToken } from '../../oracle/service/tokens.ts';
import { taskAdd } from '../../oracle/tasks/add.ts';
import { taskCheck } from '../../oracle/tasks/check.ts';
import { demoPatch, gradeRequest, makeOracle, makeRepository, taskDirectory } from '../../oracle/testing.ts';
import { oracleAt } from '../../producers/collector/grader.ts';
import { docker } from '../support/docker-engine.ts';
import { noContainers, testImage } from '../support/docker-image.ts';

const skipped = await noContainers();
const ROOT = new URL('../../', import.meta.url).pathname;
const Compose = z.looseObject({
  services: z.object({
    oracle: z.looseObject({
      command: z.array(z.string()),
      environment: z.record(z.string(), z.string()),
      volumes: z.array(z.string()),
      cap_drop: z.array(z.string()),
      security_opt: z.array(z.string()),
    }),
  }),
});
const { oracle: service } = Compose.parse(
  parse(readFileSync(join(ROOT, 'deploy/oracle/docker-compose.yml'), 'utf8')),
).services;

test.skipIf(skipped !== null)(
  'what compose starts serves, and grades in containers beside its own',
  async () => {
    // Short, since a socket's path is.
    const place = mkdtempSync(join(tmpdir(), 'fs-oc-'));
    onTestFinished(() => rmSync(place, { recursive: true, force: true }));
    const home = oracleLayout(join(place, 'home'));
    ensureOracleHome(home);
    initKey(home, 'container');
    const oracle = makeOracle({ root: home.root });
    const image = await testImage();
    const node = {
      framework: 'node:test',
      suite: ['test/bill.test.js'],
      hidden: [['test/bill-rest.test.js']],
    };
    const directory = taskDirectory(makeRepository(), {
      ...node,
      runner: 'container',
      image,
      reference: 'fix.patch',
    });
    writeFileSync(join(directory, 'fix.patch'), demoPatch('fix'));
    await taskAdd(oracle, directory);
    const { row } = await taskCheck(oracle, 'demo-split-bill');
    const token = createToken(oracle, 'host');
    const run = join(place, 'run');
    mkdirSync(run);
    chmodSync(run, 0o755);

    // No network here, so a socket in the place of the port.
    const [, , , , ...tls] = service.command;
    expect(tls).toEqual(['--tls-cert', '/run/secrets/oracle.crt', '--tls-key', '/run/secrets/oracle.key']);
    const command = [...service.command.slice(0, 3), 'unix:/run/oracle/oracle.sock', '--bucket-ms', '50'];
    const [volume = '', socket = ''] = service.volumes;
    const container = await docker.createContainer({
      ...{ Image: image ?? '', Entrypoint: ['node', '/flipstream/cli/main.ts'], Cmd: command },
      Env: Object.entries(service.environment).map(([name, value]) => `${name}=${value}`),
      HostConfig: {
        ...{ NetworkMode: 'none', ReadonlyRootfs: true, Tmpfs: { '/tmp': '' }, Init: true },
        ...{ CapDrop: service.cap_drop, SecurityOpt: service.security_opt },
        Binds: [`${ROOT}:/flipstream:ro`, `${run}:/run/oracle`, volume.replace('oracle', place), socket],
      },
    });
    onTestFinished(() => container.remove({ force: true }));
    await container.start();
    const ask = (name: 'fix' | 'wrong') =>
      oracleAt({ url: `unix:${join(run, 'oracle.sock')}`, token }, () => {})(
        gradeRequest(row, demoPatch(name), { session_id: name }),
        120_000,
      );
    await vi.waitFor(async () => expect(await ask('wrong')).toEqual({ answer: 'FAIL', reached: true }), {
      timeout: 120_000,
      interval: 1000,
    });
    expect(await ask('fix')).toEqual({ answer: 'PASS', reached: true });
  },
);
