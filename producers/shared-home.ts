/**
 * A home that agents of other users share with a collector of its own user: its owner reads and writes all of it, they
 * drop entries and read nothing of each other (oracle-design, "Where things live").
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lchownSync, lstatSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FlipstreamError } from '../schemas/errors.ts';
import { makeFolder } from '../schemas/make-folder.ts';
import type { Home } from './home.ts';
import { prepareSpool } from './spool/prepare.ts';
import { isDropFolder } from './spool/put.ts';

export interface SystemUser {
  name: string;
  uid: number;
  gid: number;
}

/** Passed through by everyone, listed by nobody else. */
const PASSAGE = 0o711;
/** Everyone may add; whose it is may remove it. */
const ADD_ONLY = 0o1733;
/** The same, and what is added gets the folder's group, the collector's, which may read it. */
const DROP = 0o3733;

/** What is open to other users, and how far; everything else of the home is its owner's alone. */
function openings(home: Home): readonly (readonly [path: string, mode: number])[] {
  return [
    [home.root, PASSAGE],
    [dirname(home.hook), 0o755],
    [home.hook, 0o644],
    [dirname(home.hashKey), PASSAGE],
    // the hook's keyed hashes: an agent can guess at what it told itself, and reads nobody else's hashes
    [home.hashKey, 0o644],
    [home.spool, PASSAGE],
    [join(home.spool, 'tmp'), DROP],
    [join(home.spool, 'new'), DROP],
    [join(home.spool, 'open'), ADD_ONLY],
    [home.losses, 0o666],
    [join(home.root, 'gate'), ADD_ONLY],
    [join(home.root, 'dispatch'), 0o755],
  ];
}

/**
 * Gives a home to a user and opens it as far as others need it; again after every change by root.
 * @throws what the system says: only root may.
 */
export function shareHome(home: Home, { uid, gid }: Pick<SystemUser, 'uid' | 'gid'>): void {
  prepareSpool(home);
  for (const path of [join(home.spool, 'open'), join(home.root, 'gate'), join(home.root, 'dispatch')])
    makeFolder(path, 0o777);
  const opened = openings(home);
  for (const path of within(home)) {
    const found = lstatSync(path);
    if (found.uid === 0) lchownSync(path, uid, gid);
    const told = found.isSymbolicLink() || found.isSocket() || opened.some(([other]) => other === path);
    if (!told) chmodSync(path, found.mode & 0o700);
  }
  for (const [path, mode] of opened) if (existsSync(path)) chmodSync(path, mode);
}

/** Everything in a home but what others have put there, which stays theirs and may lead anywhere. */
function within(home: Home): string[] {
  const theirs = openings(home).flatMap(([path, mode]) => ((mode & 0o1000) === 0 ? [] : [path]));
  const walk = (path: string): string[] =>
    lstatSync(path).isDirectory() && !theirs.includes(path)
      ? [path, ...readdirSync(path).flatMap((name) => walk(join(path, name)))]
      : [path];
  return walk(home.root);
}

/** Whether a home was made for agents of other users. */
export const isShared = (home: Home): boolean => isDropFolder(join(home.spool, 'new'));

/** What of a shared home is not as it has to be: one phrase each, with what mends it. */
export function sharedFaults(home: Home): string[] {
  const owner = lstatSync(home.root, { throwIfNoEntry: false })?.uid ?? null;
  return openings(home).flatMap(([path, mode]) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found) return [`${path} is missing`];
    if (found.uid !== owner || found.isSymbolicLink()) return [`${path} is not its owner's`];
    const is = found.mode & 0o7777;
    return is === mode ? [] : [`${path} has mode ${is.toString(8)} instead of ${mode.toString(8)}`];
  });
}

/** @throws FlipstreamError `home_not_shared` (usage) when agents of other users would reach too little, or too much. */
export function requireShared(home: Home): void {
  const faults = sharedFaults(home);
  if (lstatSync(home.root, { throwIfNoEntry: false })?.uid !== process.getuid?.())
    faults.unshift(`${home.root} is another user's`);
  if (faults.length === 0) return;
  const message = `${home.root} is not made for agents of other users (${faults[0]}): run flipstream init claude-code --system <user> as root.`;
  throw new FlipstreamError('home_not_shared', 'usage', message);
}

/** @throws FlipstreamError `system_user` (usage) when there is no such user, or it is root. */
export function systemUser(name: string): SystemUser {
  const id = (flag: string) =>
    Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
  try {
    const [uid, gid] = [id('-u'), id('-g')];
    if (uid > 0) return { name, uid, gid };
  } catch {
    // told below
  }
  const message = `${name} is no user that the collector can run as: make one, for example useradd --system flipstream.`;
  throw new FlipstreamError('system_user', 'usage', message);
}
