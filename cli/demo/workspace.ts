import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { oracleLayout } from '../../oracle/home.ts';
import { layout } from '../../producers/home.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import type { Config } from '../config.ts';
import { packageRoot } from '../package.ts';

export interface Workspace {
  /** Everything of the demo lies below. */
  root: string;
  /** The demo's own homes, so that nothing of the user's is touched. */
  config: Readonly<Config>;
  /** Folder with task.json, the hidden test and the repository with a bug. */
  task: string;
  /** Where the agent's clone will be. */
  clone: string;
}

/** Lays the demo out anew below the home directory. */
export function layOut(config: Readonly<Config>): Workspace {
  const root = join(config.home.root, 'demo');
  rmSync(root, { recursive: true, force: true });
  makeFolder(root);
  const task = join(root, 'task');
  cpSync(join(packageRoot(), 'examples', 'demo'), task, { recursive: true });
  makeRepository(join(task, 'repo'));
  const home = layout(join(root, 'home'));
  return {
    root,
    task,
    clone: join(root, 'clone'),
    config: { ...config, home, oracleHome: oracleLayout(join(root, 'oracle')) },
  };
}

const IDENTITY = [
  '-c',
  'user.name=demo',
  '-c',
  'user.email=demo@example.invalid',
  '-c',
  'commit.gpgsign=false',
  '-c',
  'core.hooksPath=/dev/null',
];

function makeRepository(dir: string): void {
  const git = (...args: string[]) =>
    execFileSync('git', [...IDENTITY, ...args], { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Share a bill between people');
}
