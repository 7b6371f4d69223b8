/**
 * Before `npm run test:real`: installs the real harness binaries when they are missing, checks that they
 * start, and prints a reason for whatever the tests will have to skip; in CI a reason is a failure.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../schemas/errors.ts';
import { ensureImage } from '../support/docker-image.ts';
import { HARNESS_FOLDER, harnessBinary } from '../support/harness-binary.ts';
import { findMeans } from '../support/kafka-broker-means.ts';
import { fetchNode20 } from '../support/node-20.ts';
import { ensurePython, PYTHON_PACKAGES } from '../support/python-packages.ts';

const HARNESSES = [
  ['claude', 'Claude Code'],
  ['codex', 'Codex CLI'],
  ['opencode', 'OpenCode'],
  ['gemini', 'Gemini CLI'],
  ['copilot', 'GitHub Copilot CLI'],
] as const;
const reasons: string[] = [];
/** The quicker tests drive Claude Code alone, which spares a gigabyte. */
const all = process.argv.includes('--all');
const needed = HARNESSES.filter(([name]) => all || name === 'claude');

if (needed.some(([name]) => !harnessBinary(name))) {
  console.error(`Installing the harness binaries (tests/harness, about ${all ? '1.3 GB' : '250 MB'}) ...`);
  // Not `npm ci`: it refuses a lock without the packages of every platform, which not every mirror has.
  const npm = spawnSync(
    'npm',
    ['install', '--no-save', '--no-audit', '--no-fund', ...(all ? [] : ['--omit=dev'])],
    {
      cwd: HARNESS_FOLDER,
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  if (npm.status !== 0)
    reasons.push(`Harnesses: npm install in tests/harness ended with ${npm.status ?? npm.error?.message}.`);
}

for (const [name, title] of needed) {
  const binary = harnessBinary(name);
  const ran = binary ? spawnSync(binary, ['--version'], { encoding: 'utf8', timeout: 60_000 }) : undefined;
  if (ran?.status === 0) console.error(`${title}: ${ran.stdout.trim()}`);
  else
    reasons.push(
      `${title}: the binary does not start (${ran?.stderr.trim() || ran?.error?.message || 'not installed'}).`,
    );
}

if (!existsSync(fileURLToPath(new URL('../../../shared/data', import.meta.url))))
  reasons.push(
    'Recorded trajectories: ../shared/data is not beside this clone, so tests over real data skip.',
  );

await fetchNode20().catch((error: unknown) =>
  reasons.push(`Node 20: none is on the PATH, and npm brought none (${messageOf(error)}).`),
);

const containers = await ensureImage();
if (containers) reasons.push(`Containers: ${containers}.`);

for (const name of PYTHON_PACKAGES) {
  const missing = ensurePython(name);
  if (missing) reasons.push(`Python: ${missing}.`);
}

const broker = await findMeans();
if (broker.kind === 'none') reasons.push(broker.reason);

for (const reason of reasons) console.error(`skipped: ${reason}`);
if (reasons.length > 0 && process.env.CI) process.exit(1);
