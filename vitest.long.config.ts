import { defineConfig } from 'vitest/config';
import real from './vitest.real.config.ts';

/** What takes more than a change can wait for: chaos, whole fuzzing, the cheating suite, every harness. Before a release. */
export default defineConfig({
  test: { ...real.test, include: ['tests/real/**/*.long.test.ts'], exclude: [], fileParallelism: false },
});
