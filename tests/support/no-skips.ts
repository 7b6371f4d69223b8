import type { Reporter } from 'vitest/node';

/** In CI a test that was skipped is a failure: whatever it needs, CI has to have. Elsewhere the tests say why they skip. */
export const noSkips: Reporter = {
  onTestRunEnd(modules) {
    if (!process.env.CI) return;
    for (const module of modules)
      for (const test of module.children.allTests('skipped')) {
        console.error(`skipped, which CI may not: ${module.relativeModuleId} > ${test.fullName}`);
        process.exitCode = 1;
      }
  },
};
