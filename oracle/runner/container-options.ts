import type Docker from 'dockerode';
import type { Limits } from '../tasks/definition.ts';

export interface Boundary {
  image: string;
  labels: Record<string, string>;
  limits: Limits;
  /** Another OCI runtime of the engine's, such as runsc; null: its default. */
  runtime: string | null;
  /** The container ends by itself after so long, seconds: nobody has to be alive to remove it. */
  lifetimeS: number;
  /** Paths where the image would have the engine make a volume on the host's disk. */
  volumes: readonly string[];
}

const MEBIBYTE = 2 ** 20;

/** One container: no network, no capabilities, nothing writable but memory, and all of it bounded. */
export function containerOptions(boundary: Boundary): Docker.ContainerCreateOptions {
  const { image, labels, limits, runtime, lifetimeS, volumes } = boundary;
  const memory = limits.memory_mb * MEBIBYTE;
  // All of tmpfs together leaves memory for processes, so that full disks are not taken for a full memory.
  const tmpfs = (share: number, mode: string) =>
    `rw,exec,nosuid,nodev,size=${Math.floor(memory * share)},mode=${mode}`;
  return {
    Image: image,
    // The shell waits, and so takes in processes whose parents ended.
    Entrypoint: ['/bin/sh', '-c', `sleep ${lifetimeS} & wait`],
    Cmd: [],
    User: '0:0',
    WorkingDir: '/',
    Hostname: 'oracle',
    Labels: labels,
    NetworkDisabled: true,
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      AutoRemove: true,
      NetworkMode: 'none',
      IpcMode: 'private',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      PidsLimit: limits.pids,
      Memory: memory,
      MemorySwap: memory,
      NanoCpus: Math.round(limits.cpus * 1e9),
      ShmSize: Math.floor(memory / 16),
      Ulimits: [
        { Name: 'fsize', Soft: memory, Hard: memory },
        { Name: 'core', Soft: 0, Hard: 0 },
        { Name: 'nofile', Soft: 4096, Hard: 4096 },
      ],
      LogConfig: { Type: 'none', Config: {} },
      Tmpfs: {
        '/work': tmpfs(1 / 2, '0755'),
        '/scratch': tmpfs(1 / 4, '0755'),
        '/tmp': tmpfs(1 / 8, '1777'),
        ...Object.fromEntries(volumes.map((path) => [path, tmpfs(1 / 16, '1777')])),
      },
      ...(runtime === null ? {} : { Runtime: runtime }),
    },
  };
}
