import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { sha256 } from '../../schemas/hash.ts';
import { createFile, replaceFile } from '../files.ts';
import { type OracleHome, refuseOpen } from '../home.ts';
import type { RunnerKind } from '../runner/runner.ts';

export type Placement = 'same_host' | 'separate_host';

export interface SigningKey {
  key_id: string;
  privateKey: KeyObject;
  /** PEM (SPKI). */
  publicKey: string;
}

const KINDS: readonly RunnerKind[] = ['process', 'container', 'vm'];

/** One key a kind of runner: what can read the `process` runner's key must not be able to claim `container`. */
function keyPath(home: OracleHome, runner: RunnerKind): string {
  return join(home.keys, `${runner}.key`);
}

/** The kind of runner that a home's key is for, or null when it has none yet. */
export function keyKind(home: OracleHome): RunnerKind | null {
  return KINDS.find((kind) => existsSync(keyPath(home, kind))) ?? null;
}

/**
 * Makes the oracle's Ed25519 key unless there is one, atomically and readable by its owner alone.
 * @returns whether a key was made.
 * @throws FlipstreamError `key_home_shared` (usage) when the home holds the key of another kind of runner.
 */
export function initKey(home: OracleHome, runner: RunnerKind): boolean {
  const other = keyKind(home);
  if (other !== null && other !== runner)
    throw new FlipstreamError(
      'key_home_shared',
      'usage',
      `${home.root} holds the key of the ${other} runner; give the ${runner} runner a home of its own (FLIPSTREAM_ORACLE_HOME)`,
    );
  return other === null && createFile(keyPath(home, runner), pem(newKey()));
}

export function newKey(): KeyObject {
  return generateKeyPairSync('ed25519').privateKey;
}

/** Puts a key in the place of the one there is, which is gone then: what it signed stays as it is. */
export function replaceKey(home: OracleHome, runner: RunnerKind, key: KeyObject): void {
  replaceFile(keyPath(home, runner), pem(key));
}

const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' });

/**
 * Reads the key.
 * @throws FlipstreamError `oracle_home_open` (usage) when others can read it, `key_unreadable` (usage) when it is
 * missing or no Ed25519 key.
 */
export function loadKey(home: OracleHome, runner: RunnerKind): SigningKey {
  const path = keyPath(home, runner);
  if (!existsSync(path))
    throw new FlipstreamError(
      'key_unreadable',
      'usage',
      `${path} is missing; run: flipstream oracle key init`,
    );
  refuseOpen(path);
  try {
    const privateKey = createPrivateKey(readFileSync(path));
    if (privateKey.asymmetricKeyType !== 'ed25519')
      throw new TypeError(`it is ${privateKey.asymmetricKeyType}`);
    return asSigning(privateKey, runner);
  } catch (cause) {
    throw new FlipstreamError(
      'key_unreadable',
      'usage',
      `${path} is not an Ed25519 private key: ${messageOf(cause)}`,
      cause,
    );
  }
}

/** A private key with the id that follows from it. */
export function asSigning(privateKey: KeyObject, runner: RunnerKind): SigningKey {
  const publicKey = createPublicKey(privateKey);
  const key_id = `${runner}-${sha256(publicKey.export({ type: 'spki', format: 'der' })).slice(0, 16)}`;
  return { key_id, privateKey, publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString() };
}
