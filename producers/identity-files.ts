/** Files of a home that are made once, by whoever needs them first, and never change. */
import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { FlipstreamError, hasCode } from '../schemas/errors.ts';
import { makeFolder } from '../schemas/make-folder.ts';
import type { Home } from './home.ts';

export interface HomeIdentity {
  /** The `chain_id` of every chain captured here. */
  home_id: string;
  /** Random, so that it names neither host nor person. */
  host_id: string;
}

/** The key of appendix A's keyed hashes, 32 raw bytes (the hook makes the same file). @throws FlipstreamError `home_damaged` (fatal), or what the disk says */
export function loadHashKey(home: Home): Buffer {
  const key = madeOnce(home.hashKey, () => randomBytes(32));
  if (key.length === 32) return key;
  throw damaged(home.hashKey, `it has ${key.length} bytes instead of 32`);
}

/** Who captures here. @throws FlipstreamError `home_damaged` (fatal), or what the disk says */
export function loadIdentity(home: Home): HomeIdentity {
  const fresh = () => {
    const hex = () => randomBytes(16).toString('hex');
    return JSON.stringify({ v: 1, home_id: hex(), host_id: hex() });
  };
  const text = madeOnce(home.identity, () => Buffer.from(fresh())).toString('utf8');
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && 'home_id' in value && 'host_id' in value) {
      const { home_id, host_id } = value;
      if (typeof home_id === 'string' && typeof host_id === 'string' && home_id !== '' && host_id !== '')
        return { home_id, host_id };
    }
  } catch {
    // told below
  }
  throw damaged(home.identity, 'it does not hold home_id and host_id');
}

function damaged(path: string, why: string): FlipstreamError {
  const message = `${path} cannot be used: ${why}. Restore it from a backup; a new one would begin new chains.`;
  return new FlipstreamError('home_damaged', 'fatal', message);
}

/** Content of a file; when there is none, it is made whole and durable before it has its name. */
function madeOnce(path: string, make: () => Buffer): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  makeFolder(dirname(path));
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    const file = openSync(temporary, 'wx', 0o600);
    try {
      writeSync(file, make());
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    linkSync(temporary, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  return readFileSync(path);
}
