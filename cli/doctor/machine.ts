/** Checks of the machine: Node, disk, permissions, Claude Code itself. */
import { execFile } from 'node:child_process';
import { existsSync, statfsSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Home } from '../../producers/home.ts';
import { isShared, sharedFaults } from '../../producers/shared-home.ts';
import { hasCode, messageOf } from '../../schemas/errors.ts';
import { HARNESS_CAPABILITIES } from '../../schemas/harness-capabilities.ts';
import type { Clock } from '../../schemas/time.ts';
import { reviewerPaths } from '../init/reviewer.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { ago, lastHeard } from './last-heard.ts';

const WANTED_NODE = 24;
const LOW_DISK_BYTES = 1024 ** 3;

export function checkNode(version: string): Finding {
  return Number(version.split('.')[0]) >= WANTED_NODE
    ? ok('node', `Node ${version}.`)
    : problem(
        'node',
        `This is Node ${version}.`,
        `Run: npm rebuild node, or use Node ${WANTED_NODE} or newer.`,
      );
}

/** Free space where the home lies (or will lie). @param freeIn bytes that this user may fill there */
export function checkDisk(folder: string, freeIn = freeBytes): Finding {
  const free = freeIn(folder);
  const said = `${(free / 1024 ** 3).toFixed(1)} GiB free at ${folder}.`;
  return free >= LOW_DISK_BYTES
    ? ok('disk', said)
    : problem('disk', said, 'Free space: on a full disk events are counted as lost.');
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Files with secrets must be closed to other users. */
export function checkPermissions(home: Home): Finding {
  if (process.platform === 'win32') return ok('permissions', 'Not checked on Windows.');
  if (isShared(home)) {
    const [fault] = sharedFaults(home);
    return fault === undefined
      ? ok('permissions', 'The home is open to agents of other users as far as they need, and no further.')
      : problem('permissions', `${fault}.`, 'Run: flipstream init claude-code --system <user>');
  }
  const secret = [home.root, home.config, home.hashKey, home.identity, reviewerPaths(home).identity];
  const open = secret.filter((path) => existsSync(path) && (statSync(path).mode & 0o077) !== 0);
  return open.length === 0
    ? ok('permissions', 'Keys, tokens and settings are closed to other users.')
    : problem('permissions', `Other users can open ${open.join(', ')}.`, `Run: chmod go= ${open.join(' ')}`);
}

/**
 * Claude Code: there, of a release that was tested, and heard of. Its hooks: hooks.ts.
 * @param needed otherwise nothing is said of one that is not there
 */
export async function checkClaude(
  env: NodeJS.ProcessEnv,
  home: Home,
  clock: Clock,
  needed: boolean,
): Promise<Finding[]> {
  try {
    const { stdout } = await promisify(execFile)('claude', ['--version'], { timeout: 10_000, env });
    const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? stdout.trim();
    const tested = HARNESS_CAPABILITIES.find(({ harness }) => harness === 'claude-code')?.tested ?? '';
    const last = ago(lastHeard(home).get('claude-code'), clock);
    const said = `Claude Code ${version}; ${last}. Tested with ${tested}.`;
    return [
      version === tested
        ? ok('claude', said)
        : warning('claude', said, 'Watch the first sessions: flipstream session show <id>.'),
    ];
  } catch (error) {
    const missing = hasCode(error, 'ENOENT');
    if (missing && !needed) return [];
    return [
      warning(
        'claude',
        missing ? 'There is no claude on the PATH.' : `claude --version fails: ${messageOf(error)}.`,
        'Install Claude Code, or start doctor from a shell that finds it.',
      ),
    ];
  }
}
