/** A container engine for the tests: one that runs already, or Debian's, installed and started by hand. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import Docker from 'dockerode';
import { DOCKER_SOCKET } from '../../oracle/runner/container.ts';

export const docker = new Docker({ socketPath: DOCKER_SOCKET });

const answers = () =>
  docker.ping().then(
    () => true,
    () => false,
  );

/** @returns why there is no engine, or null when it answers. */
export async function ensureEngine(): Promise<string | null> {
  if (await answers()) return null;
  if (process.platform !== 'linux') return 'no container engine answers, and it is installed on Linux only';
  if (process.getuid?.() !== 0) return 'no container engine answers, and only root may install and start one';
  if (!existsSync('/usr/sbin/dockerd')) {
    const failed = installed('docker.io');
    if (failed) return failed;
  }
  // Containers here have no network, so the engine needs none either.
  const log = openSync('/var/log/flipstream-dockerd.log', 'a');
  const daemon = spawn('/usr/sbin/dockerd', ['--bridge=none', '--iptables=false', '--ip-forward=false'], {
    stdio: ['ignore', log, log],
    detached: true,
  });
  daemon.unref();
  closeSync(log);
  for (let tries = 0; tries < 120 && daemon.exitCode === null; tries++) {
    if (await answers()) return null;
    await wait(250);
  }
  return 'dockerd was started and does not answer; see /var/log/flipstream-dockerd.log';
}

/** Installs packages of Debian's. @returns why it could not, or null. */
export function installed(...packages: string[]): string | null {
  const install = ['install', '-qy', '--no-install-recommends', ...packages];
  for (const args of [['update', '-q'], install]) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const run = spawnSync('apt-get', args, { env, encoding: 'utf8' });
    if (run.status !== 0)
      return `apt-get ${args[0]} ${packages.join(' ')}: ${run.error?.message ?? run.stderr.trim().split('\n').at(-1)}`;
  }
  return null;
}
