/** The smallest task for a container: a shell script that fails, and what is run of it. */
import { onTestFinished } from 'vitest';
import { makeTask, ORACLE_HOST, type TaskSource } from './container-task.ts';
import { docker } from './docker-engine.ts';

/** A task whose hidden command is graded code; the base's does nothing wrong and nothing right. */
const SHELL: TaskSource = {
  files: { 'src/run.sh': 'exit 1\n', 'keep.txt': 'kept\n' },
  hidden: { 'hidden/h.txt': 'secret-of-the-tests\n' },
  task: {
    suite: 'test -f keep.txt',
    hidden: ['sh src/run.sh'],
    timeout_s: 20,
    limits: { memory_mb: 128, pids: 64 },
  },
  later: { 'fix.txt': 'the fix\n' },
};

/** Only inside a test. */
export async function shell(change: Partial<TaskSource> = {}, task: Record<string, unknown> = {}) {
  const made = await makeTask({ ...SHELL, ...change, task: { ...SHELL.task, ...task } });
  onTestFinished(made.remove);
  const grade = (script: string) => made.grade(made.diffOf({ 'src/run.sh': `${script}\n` }));
  return { ...made, grade };
}

/** Containers of this process's runners. */
export const ours = () =>
  docker.listContainers({ all: true, filters: { label: [`flipstream.oracle=${ORACLE_HOST}`] } });
