import { createHmac } from 'node:crypto';
import { keyedHash } from '../../schemas/hash.ts';
import type { Home } from '../home.ts';
import { loadHashKey } from '../identity-files.ts';
import type { Hasher } from './stdin.ts';

/**
 * The keyed hash of appendix A under this installation's key. `node:crypto` costs 4 ms at the start; SHA-256 in
 * JavaScript was tried and costs as much for 2 KB, since nothing is compiled yet.
 */
export type Hash = (data: string | Uint8Array) => string;

/** @throws when there is no key and none can be made */
export function keyedHasher(home: Home): Hash {
  const key = loadHashKey(home);
  return (data) => keyedHash(key, data);
}

/** The keyed hash of what is too long to be held; never throws: without a key nothing is kept, only counted. */
export function streamHasher(home: Home): Hasher {
  try {
    const hmac = createHmac('sha256', loadHashKey(home));
    return { update: (bytes) => void hmac.update(bytes), digest: () => hmac.digest('hex') };
  } catch {
    return { update: () => {}, digest: () => '' };
  }
}
