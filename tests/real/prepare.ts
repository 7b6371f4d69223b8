/**
 * Before `npm run test:real`: installs the real harness binaries when they are missing, checks that they
 * start, and prints a reason for whatever the tests will have to skip; with --no-skip (CI) a reason is a failure.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { claudeBinary, HARNESS_FOLDER } from '../support/harness-binary.ts';
import { noKafka } from '../support/kafka-broker.ts';

const reasons: string[] = [];

if (!claudeBinary()) {
  console.error('Installing the harness binaries (tests/harness, about 250 MB) ...');
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: HARNESS_FOLDER,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (npm.status !== 0)
    reasons.push(`Claude Code: npm ci in tests/harness ended with ${npm.status ?? npm.error?.message}.`);
}

const claude = claudeBinary();
const version = claude ? spawnSync(claude, ['--version'], { encoding: 'utf8', timeout: 60_000 }) : undefined;
if (version?.status === 0) console.error(`Claude Code: ${version.stdout.trim()}`);
else
  reasons.push(
    `Claude Code: the binary does not start (${version?.stderr.trim() || version?.error?.message || 'not installed'}).`,
  );

if (!existsSync(fileURLToPath(new URL('../../../shared/data', import.meta.url))))
  reasons.push(
    'Recorded trajectories: ../shared/data is not beside this clone, so tests over real data skip.',
  );

const kafka = await noKafka();
if (kafka !== null) reasons.push(kafka);

for (const reason of reasons) console.error(`skipped: ${reason}`);
if (reasons.length > 0 && process.argv.includes('--no-skip')) process.exit(1);
