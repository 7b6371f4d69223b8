import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      '{schemas,log,producers,streams,consumers,oracle,warehouse,jobs,cli,scripts}/**/*.test.ts',
      'tests/*.test.ts',
    ],
    testTimeout: 30_000,
  },
});
