import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { noSkips } from './tests/support/no-skips.ts';

const LONGEST = /\/(kills|fuzz-hook|oracle-container)\.test\.ts$/;

/** Whole systems first, and of them the longest: begun last, it would run on alone while the other cores are idle. */
export class WholeSystemsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) =>
      LONGEST.test(moduleId) ? 0 : moduleId.includes('/tests/') ? 1 : 2;
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

const ISOLATED = '**/*.isolated.test.ts';
const FOLDERS = '{schemas,log,producers,streams,consumers,oracle,warehouse,jobs,cli,scripts}/**/*.test.ts';

export default defineConfig({
  test: {
    // For what hangs. Machines differ five times in speed, and what is quick here may not be elsewhere.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    globalSetup: 'tests/support/scratch.ts',
    sequence: { sequencer: WholeSystemsFirst },
    // The default leaves a core free; most files wait for processes and disks for half of their time.
    maxWorkers: '100%',
    reporters: ['default', noSkips],
    // The tests start this project's commands some hundreds of times: their compiled code is kept between starts.
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/node') },
    projects: [
      {
        extends: true,
        // Loading every module again for each file took a third of the whole run. No module keeps state that a
        // second test could see, and a test that mocks a function puts it back.
        test: { name: 'shared', include: [FOLDERS, 'tests/*.test.ts'], exclude: [ISOLATED], isolate: false },
      },
      // Whoever puts another module in the place of one of ours needs modules that nobody has loaded yet.
      { extends: true, test: { name: 'isolated', include: [ISOLATED], exclude: ['node_modules/**'] } },
    ],
  },
});
