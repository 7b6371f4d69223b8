/** What is sealed to the reviewer (age), and how a command opens it. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { Decrypter } from 'age-encryption';
import { z } from 'zod';
import { FlipstreamError } from '../schemas/errors.ts';
import type { Config } from './config.ts';
import { reviewerPaths } from './init/reviewer.ts';
import { readNamed } from './named-file.ts';

/** @throws FlipstreamError `reviewer_key_wrong` (usage) when it was sealed to another key */
export type Unseal = (sealed: Buffer) => Promise<Buffer>;

export const Identity = z.looseObject({ identity: z.string().optional() });
export const IDENTITY_FLAG = [
  '--identity <file>',
  'the reviewer\u2019s private key (default: of this home)',
] as const;

/**
 * @param identity what `--identity` says
 * @returns null when there is no private key here: whoever reviews may keep it elsewhere.
 * @throws FlipstreamError `reviewer_key_invalid` (usage)
 */
export function unsealOf({ home, cwd }: Config, identity: string | undefined): Unseal | null {
  const file = identity === undefined ? reviewerPaths(home).identity : resolve(cwd, identity);
  if (identity === undefined && !existsSync(file)) return null;
  const decrypter = new Decrypter();
  try {
    decrypter.addIdentity(readNamed(file).trim());
  } catch (error) {
    throw new FlipstreamError(
      'reviewer_key_invalid',
      'usage',
      `${file} cannot be read as a reviewer’s private key (one line, AGE-SECRET-KEY-1…): name another with --identity.`,
      error,
    );
  }
  return async (sealed) => {
    try {
      return Buffer.from(await decrypter.decrypt(sealed));
    } catch (error) {
      throw new FlipstreamError(
        'reviewer_key_wrong',
        'usage',
        `${file} is not the key that this was sealed to, or what was sealed is damaged: name the reviewer’s of that time with --identity.`,
        error,
      );
    }
  };
}
