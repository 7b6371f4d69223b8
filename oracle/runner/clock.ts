import type { Framework, TaskDefinition } from '../tasks/definition.ts';
import type { Box } from './box.ts';
import { TESTS_GROUP, testsUser } from './layout.ts';

/** What makes the wall clock stand still for a process and all that it starts; timers and waits go on. */
export function clockEnvironment(faketime: string | null): Record<string, string> {
  if (faketime === null) return {};
  return {
    ...{ LD_PRELOAD: faketime, FAKETIME: '2020-01-01 00:00:00', NO_FAKE_STAT: '1' },
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}

/** Nothing that they load waits by the call that breaks. */
const WITHOUT_PYTHON: ReadonlySet<Framework> = new Set(['node:test', 'vitest', 'jest', 'go', 'cargo']);

/** By image: whether its Python can sleep under its libfaketime. */
const sleeps = new Map<string, Promise<boolean | null>>();

/**
 * The library, where the programs of a task can live with it. Python from 3.11 on waits until a time of the monotonic
 * clock, for which libfaketime 0.9.10 gives a time that no kernel takes: every `time.sleep` fails. A clock that stands
 * still is not worth that. Asked once an image.
 */
export async function usableClock(
  box: Box,
  image: string,
  { framework, program }: Pick<TaskDefinition, 'framework' | 'program'>,
  faketime: string | null,
): Promise<string | null> {
  const bears = program === null && framework !== null && WITHOUT_PYTHON.has(framework);
  if (faketime === null || bears) return faketime;
  const asked = sleeps.get(image) ?? pythonSleeps(box, faketime);
  sleeps.set(image, asked);
  const answer = await asked;
  if (answer === null) sleeps.delete(image); // the machine's doing, which the run will tell of
  return answer === false ? null : faketime;
}

async function pythonSleeps(box: Box, faketime: string): Promise<boolean | null> {
  const script = 'command -v python3 >/dev/null || exit 0; python3 -c "import time; time.sleep(0.001)"';
  const { exit } = await box.exec({
    argv: ['/bin/sh', '-c', script],
    user: `${testsUser(0)}:${TESTS_GROUP}`,
    cwd: '/',
    env: clockEnvironment(faketime),
    timeoutMs: 30_000,
    outputMax: 2 ** 20,
  });
  return exit === null ? null : exit === 0;
}
