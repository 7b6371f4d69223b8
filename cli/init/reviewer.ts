import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Home } from '../../producers/home.ts';
import { makeFolder } from '../../schemas/make-folder.ts';

/** Where the reviewer's key pair lies. The private half may be moved off the machine; only the public one is needed to seal. */
export function reviewerPaths(home: Home): { identity: string; recipient: string } {
  const folder = dirname(home.hashKey);
  return { identity: join(folder, 'reviewer.key'), recipient: join(folder, 'reviewer.pub') };
}

/**
 * The age recipient that quarantined content and dead letters are sealed to; the pair is made when there is none.
 * @returns the recipient (`age1…`), and whether it was made now.
 */
export async function ensureReviewer(home: Home): Promise<{ recipient: string; made: boolean }> {
  const paths = reviewerPaths(home);
  if (existsSync(paths.recipient))
    return { recipient: readFileSync(paths.recipient, 'utf8').trim(), made: false };
  makeFolder(dirname(paths.identity));
  // Loaded only here: most commands ask for the paths alone, and it takes longer to load than they run.
  const { generateIdentity, identityToRecipient } = await import('age-encryption');
  // The private half may be there alone: an init was broken off, or the public one was lost.
  const found = existsSync(paths.identity);
  const identity = found ? readFileSync(paths.identity, 'utf8').trim() : await generateIdentity();
  const recipient = await identityToRecipient(identity);
  if (!found) writeFileSync(paths.identity, `${identity}\n`, { mode: 0o600, flag: 'wx' });
  writeFileSync(paths.recipient, `${recipient}\n`, { mode: 0o644, flag: 'wx' });
  return { recipient, made: true };
}
