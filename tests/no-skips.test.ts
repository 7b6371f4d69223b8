/** `npm test` and `npm run test:real` as CI starts them: a skipped test fails there. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');

/** Runs a file of which no test has such a name, so that each of them is skipped. */
function skipping(config: string, file: string, ci: string) {
  const argv = [vitest, 'run', '--config', config, '--maxWorkers=1', '-t', 'no test is called so', file];
  const { status, stderr } = spawnSync(process.execPath, argv, {
    cwd: root,
    env: { ...process.env, CI: ci },
    encoding: 'utf8',
  });
  return { status, stderr };
}

test.each([
  ['vitest.config.ts', 'schemas/make-folder.test.ts'],
  ['vitest.real.config.ts', 'tests/real/plugin-validate.test.ts'],
])('under %s a skipped test fails in CI, by name, and nowhere else', (config, file) => {
  const { status, stderr } = skipping(config, file, 'true');
  expect(status).toBe(1);
  expect(stderr).toContain(`skipped, which CI may not: ${file} > `);
  expect(skipping(config, file, '')).toMatchObject({ status: 0 });
});
