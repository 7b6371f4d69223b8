import type Docker from 'dockerode';
import { type Boundary, containerOptions } from './container-options.ts';
import { type ExecEnd, type ExecOptions, execIn, httpStatus } from './engine.ts';

/** One container, which is gone when it is closed. */
export interface Box {
  exec(options: ExecOptions): Promise<ExecEnd>;
  /** Whether it ended though nobody stopped it and nothing in it was out of memory: the machine's doing. */
  wasTaken(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Creates and starts one.
 * @throws what the client throws: with a `statusCode` when the engine refused.
 */
export async function openBox(docker: Docker, boundary: Boundary): Promise<Box> {
  const since = Math.floor(Date.now() / 1000);
  const container = await docker.createContainer(containerOptions(boundary));
  let closing: Promise<void> | null = null;
  let killed = false;
  const kill = () => {
    killed = true;
    container.kill().catch(() => {}); // it is gone, or the engine is, which the stream will say
  };
  const box: Box = {
    exec: (options) => execIn(container, kill, options),
    async wasTaken() {
      if (killed || closing !== null || (await staysAlive(container))) return false;
      return !(await ranOutOfMemory(docker, container.id, since));
    },
    close: () => {
      closing ??= remove(container);
      return closing;
    },
  };
  try {
    await container.start();
  } catch (error) {
    await box.close();
    throw error;
  }
  return box;
}

/** The engine tells of a command's end a moment before it tells of its container's. */
async function staysAlive(container: Docker.Container): Promise<boolean> {
  for (let poll = 0; poll < 5; poll++) {
    try {
      if (!(await container.inspect()).State.Running) return false;
    } catch (error) {
      if (httpStatus(error) === 404) return false;
      throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return true;
}

/** The engine keeps its last events. */
async function ranOutOfMemory(docker: Docker, id: string, since: number): Promise<boolean> {
  const until = Math.ceil(Date.now() / 1000) + 1;
  const events = await docker.getEvents({ since, until, filters: { container: [id], event: ['oom'] } });
  for await (const _ of events) return true;
  return false;
}

const GONE_POLLS = 100;

/**
 * Resolves when it is gone. Never rejects: what an engine that is not there has kept ends by itself, and is swept at
 * the next start.
 */
async function remove(container: Docker.Container): Promise<void> {
  for (let poll = 0; poll < GONE_POLLS; poll++) {
    try {
      await container.remove({ force: true, v: true });
      return;
    } catch (error) {
      // 409: the engine already removes it, since it has ended.
      if (httpStatus(error) !== 409) return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export const LABEL = 'flipstream.oracle';
export const OWNER_LABEL = 'flipstream.owner';

/** Removes containers of this oracle whose makers are dead. */
export async function sweepBoxes(
  docker: Docker,
  oracleHost: string,
  lives: (owner: string) => boolean,
): Promise<void> {
  const filters = { label: [`${LABEL}=${oracleHost}`] };
  for (const { Id, Labels } of await docker.listContainers({ all: true, filters }))
    if (!lives(Labels[OWNER_LABEL] ?? '')) await remove(docker.getContainer(Id));
}
