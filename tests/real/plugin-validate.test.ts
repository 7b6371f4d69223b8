import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { claudeBinary } from '../support/harness-binary.ts';

const claude = claudeBinary();
let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'flipstream-claude-'));
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** What the real binary says of a manifest, with a home of its own. */
function validate(folder: string) {
  const path = fileURLToPath(new URL(`../../${folder}`, import.meta.url));
  const run = spawnSync(claude ?? '', ['plugin', 'validate', '--strict', path], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: home, CLAUDE_CONFIG_DIR: home, DISABLE_AUTOUPDATER: '1' },
  });
  return { status: run.status, said: run.stdout + run.stderr };
}

// Skipped only where tests/real/prepare.ts could not install the binary, and printed why.
test.skipIf(!claude)('claude plugin validate accepts the marketplace', () => {
  expect(validate('.')).toMatchObject({ status: 0 });
});

test.skipIf(!claude)('claude plugin validate accepts the plugin', () => {
  expect(validate('plugin')).toMatchObject({ status: 0 });
});
