import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { createFile } from '../files.ts';
import type { OracleHome } from '../home.ts';

/**
 * Seals what lies in the store: hidden tests, references, diffs, run logs. Whoever has a copy of the store without
 * its key has nothing (chapter 5, "Why a separate host").
 */
export interface Sealer {
  /** @param name what it is the content of: it opens under no other name. */
  seal(name: string, content: Buffer): Buffer;
  /** @throws FlipstreamError `store_sealed_otherwise` (fatal) when it was altered, or sealed under another key or name. */
  open(name: string, sealed: Buffer): Buffer;
}

const MAGIC = Buffer.from('FSO1');
const NONCE = 12;
const TAG = 16;
const KEY = 32;

/**
 * The one key of a store, made with it.
 * @throws FlipstreamError `store_key_unreadable` (usage) when it is missing from a store in use, or is no key.
 */
export function openSealer(home: OracleHome): Sealer {
  if (!existsSync(home.storeKey)) {
    if (readdirSync(home.store).some((name) => name.endsWith('.task'))) throw noKey(home, 'it is missing');
    createFile(home.storeKey, randomBytes(KEY));
  }
  const key = readFileSync(home.storeKey);
  if (key.length !== KEY) throw noKey(home, `it has ${key.length} bytes instead of ${KEY}`);
  return sealerWith(key);
}

function noKey(home: OracleHome, why: string): FlipstreamError {
  return new FlipstreamError(
    'store_key_unreadable',
    'usage',
    `${home.storeKey} does not open the tasks in ${home.store}: ${why}; restore it from a copy of this home`,
  );
}

/** AES-256-GCM under random nonces; the name is authenticated with the content. */
function sealerWith(key: Buffer): Sealer {
  return {
    seal(name, content) {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(name));
      const body = Buffer.concat([cipher.update(content), cipher.final()]);
      return Buffer.concat([MAGIC, nonce, cipher.getAuthTag(), body]);
    },
    open(name, sealed) {
      const body = MAGIC.length + NONCE + TAG;
      try {
        if (sealed.length < body || !sealed.subarray(0, MAGIC.length).equals(MAGIC))
          throw new TypeError('it is not sealed');
        const nonce = sealed.subarray(MAGIC.length, MAGIC.length + NONCE);
        const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG });
        decipher.setAAD(Buffer.from(name)).setAuthTag(sealed.subarray(body - TAG, body));
        return Buffer.concat([decipher.update(sealed.subarray(body)), decipher.final()]);
      } catch (cause) {
        throw new FlipstreamError(
          'store_sealed_otherwise',
          'fatal',
          `${name} in the oracle's store was altered or sealed with another key (${messageOf(cause)}); restore it from a copy of this home`,
          cause,
        );
      }
    },
  };
}
