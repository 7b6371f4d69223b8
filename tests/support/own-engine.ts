/** A container engine of a test's own, to be killed and to run out of disk: nobody else's containers are touched. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, copyFileSync, mkdirSync, openSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Docker from 'dockerode';

export interface OwnEngine {
  docker: Docker;
  socketPath: string;
  /** Id of the one image it has. */
  image: string;
  start(): Promise<void>;
  /** Resolves when the engine's process is gone; SIGKILL leaves its containers as they are. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** What a shell task and loading a tree need. */
const PROGRAMS = ['sh', 'git', 'tar', 'cat', 'mkdir', 'mv', 'rm', 'chmod', 'sleep'];

/** @param directory for its sockets. @param data for its images and containers. */
export async function ownEngine(directory: string, data: string): Promise<OwnEngine> {
  const socketPath = join(directory, 'docker.sock');
  const docker = new Docker({ socketPath });
  let daemon: ChildProcess | null = null;
  const engine: OwnEngine = {
    ...{ docker, socketPath, image: '' },
    async start() {
      const log = openSync(join(directory, 'log'), 'a');
      const places = [
        '--data-root',
        data,
        '--exec-root',
        join(directory, 'run'),
        '--pidfile',
        join(directory, 'pid'),
      ];
      const none = ['--bridge=none', '--iptables=false', '--ip-forward=false'];
      // of one that was killed, and that nobody may have reaped: it would be taken for one that runs
      for (const pid of ['pid', 'run/containerd/containerd.pid'])
        rmSync(join(directory, pid), { force: true });
      daemon = spawn('/usr/sbin/dockerd', ['--host', `unix://${socketPath}`, ...places, ...none], {
        stdio: ['ignore', log, log],
      });
      closeSync(log);
      for (let tries = 0; tries < 240; tries++) {
        if (
          await docker.ping().then(
            () => true,
            () => false,
          )
        )
          return;
        await wait(250);
      }
      throw new Error(`the engine does not answer; see ${join(directory, 'log')}`);
    },
    async end(signal) {
      const child = daemon;
      daemon = null;
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill(signal);
      await gone;
    },
  };
  try {
    await engine.start();
    engine.image = await smallImage(docker, join(directory, 'image'));
    return engine;
  } catch (error) {
    await engine.end('SIGTERM');
    throw error;
  }
}

/** Programs of this machine with the libraries that they name. */
async function smallImage(docker: Docker, root: string): Promise<string> {
  for (const name of ['bin', 'lib', 'lib64']) {
    mkdirSync(join(root, 'usr', name), { recursive: true });
    symlinkSync(join('usr', name), join(root, name));
  }
  for (const name of PROGRAMS) {
    const program = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
    const libraries = execFileSync('ldd', [program], { encoding: 'utf8' }).match(/\/\S+(?= \()/g) ?? [];
    copy(program, join(root, 'usr/bin', name));
    for (const library of libraries) copy(library, join(root, library));
  }
  const tar = spawn('tar', ['-C', root, '-cf', '-', '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const progress = await docker.importImage(tar.stdout, { repo: 'small', tag: '1' });
  await new Promise((resolve, reject) =>
    docker.modem.followProgress(progress, (error) => (error ? reject(error) : resolve(null))),
  );
  return (await docker.getImage('small:1').inspect()).Id;
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to); // what a link leads to
}
