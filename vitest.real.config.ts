import { defineConfig } from 'vitest/config';
import unit from './vitest.config.ts';

/** What needs the real harness binaries or real data: long, one file at a time, since each drives whole systems. */
export default defineConfig({
  test: {
    include: ['tests/real/**/*.test.ts'],
    exclude: ['**/*.long.test.ts'],
    testTimeout: 600_000,
    hookTimeout: 300_000,
    fileParallelism: false,
    isolate: false,
    env: unit.test?.env,
  },
});
