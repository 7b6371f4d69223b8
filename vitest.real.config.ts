import { defineConfig } from 'vitest/config';
import unit, { WholeSystemsFirst } from './vitest.config.ts';

/** What needs the real harness binaries, containers, brokers or real data: long, and two at a time, since each drives whole systems. */
export default defineConfig({
  test: {
    include: ['tests/real/**/*.test.ts'],
    exclude: ['**/*.long.test.ts'],
    testTimeout: 600_000,
    hookTimeout: 300_000,
    maxWorkers: 2,
    sequence: { sequencer: WholeSystemsFirst },
    isolate: false,
    env: unit.test?.env,
    reporters: unit.test?.reporters,
  },
});
