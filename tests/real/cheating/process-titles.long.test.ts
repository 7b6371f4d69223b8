/** What graded code writes into the title of a process, every user of the machine can read, as on any Linux. */
import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { makeTask, type TaskSource } from '../../support/container-task.ts';
import { noContainers } from '../../support/docker-image.ts';
import { HTTP, PYTEST, wrongPython } from '../../support/tasks-in-containers.ts';

const skipped = await noContainers();

/** Whatever it finds of the hidden tests, as the name of a process that lives for three seconds. */
const SHOWING = `import os, subprocess

found = "nothing"
for path in ("tests/test_hidden.py", "/work/tests/tests/test_hidden.py"):
    try:
        found = open(path).read()
    except OSError:
        pass
subprocess.run(["told-by-title: " + found, "3"], executable="sleep")


`;

/** Looks at all titles, as a user with no rights, until it is stopped. The word is sought by what is not itself found. */
function spy(): () => Promise<string> {
  const look = 'while :; do grep -hasz "^[t]old-by-title" /proc/[0-9]*/cmdline; sleep 0.1; done';
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const child = spawn('/bin/sh', ['-c', look], { ...user, cwd: '/', stdio: ['ignore', 'pipe', 'ignore'] });
  let seen = '';
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk.toString();
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return async () => {
    child.kill('SIGKILL');
    await closed;
    return seen;
  };
}

async function seenOf(source: TaskSource): Promise<string> {
  const task = await makeTask(source);
  const stop = spy();
  try {
    const { fault } = await task.run(task.diffOf(wrongPython(SHOWING)));
    expect(fault).toBeNull();
  } finally {
    task.remove();
  }
  return stop();
}

test.skipIf(skipped !== null)(
  'code that has read a hidden test shows it to every user of the machine; apart from it there is nothing to show',
  async () => {
    expect(await seenOf(PYTEST)).toContain('secret-of-the-tests');
    const apart = await seenOf(HTTP);
    expect(apart).toContain('told-by-title: nothing');
    expect(apart).not.toContain('secret-of-the-tests');
  },
);
