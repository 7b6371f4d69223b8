import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      '{schemas,log,producers,streams,consumers,oracle,warehouse,jobs,cli,scripts}/**/*.test.ts',
      'tests/*.test.ts',
    ],
    testTimeout: 30_000,
    // The default leaves a core free; most files wait for processes and disks for half of their time.
    maxWorkers: '100%',
  },
});
