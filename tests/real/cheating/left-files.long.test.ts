/**
 * What a program leaves where tests that run apart from it look for a file. A test that reads plain files only is never
 * deceived; one that opens whatever is there is, which shows that the attacks are some.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ContainerTask, learnIds, makeTask, type TaskSource } from '../../support/container-task.ts';
import { noContainers } from '../../support/docker-image.ts';
import { CAREFUL_READER, fixLedger, LINK_FOLLOWER, wrongLedger } from '../../support/tasks-of-files.ts';
import { LEFT_FILES } from './left-files.ts';

const skipped = await noContainers();

async function prepare(source: TaskSource): Promise<ContainerTask> {
  const task = await makeTask(source);
  const { fault, evidence_fault } = await learnIds(task, task.diffOf(fixLedger()));
  expect([fault, evidence_fault]).toEqual([null, null]);
  expect(task.job.definition.expected_ids).toHaveLength(3);
  return task;
}

describe.skipIf(skipped !== null)('what a program leaves', () => {
  let careful: ContainerTask;
  let following: ContainerTask;
  beforeAll(async () => {
    [careful, following] = await Promise.all([prepare(CAREFUL_READER), prepare(LINK_FOLLOWER)]);
  });
  afterAll(() => {
    careful.remove();
    following.remove();
  });

  test.each(LEFT_FILES.map((attack) => [attack.name, attack] as const))(
    'never PASS where plain files are read: %s',
    async (_, { code, followed }) => {
      const grade = (task: ContainerTask) => task.grade(task.diffOf(wrongLedger(code)));
      const [plain, any, control] = await Promise.all([
        grade(careful),
        grade(following),
        careful.grade(careful.diffOf(fixLedger()), 120),
      ]);
      expect(plain.code, plain.reason).toBe('FAIL');
      expect(plain.result.hidden.map(({ timed_out }) => timed_out)).toEqual([false]);
      expect(followed === 'either' ? ['PASS', 'FAIL'] : [followed], any.reason).toContain(any.code);
      expect(control.code, control.reason).toBe('PASS');
    },
  );
});
