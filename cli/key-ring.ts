/** The key ring that this side trusts, and its pin: the hash in config.json of the one that was accepted. */
import { renameSync, writeFileSync } from 'node:fs';
import type { Home } from '../producers/home.ts';
import { readSettings } from '../producers/settings.ts';
import { canonical } from '../schemas/canonical.ts';
import { FlipstreamError, hasCode } from '../schemas/errors.ts';
import { sha256 } from '../schemas/hash.ts';
import { makeFolder } from '../schemas/make-folder.ts';
import { readJsonAs } from '../schemas/read-as.ts';
import { KeyRing } from '../schemas/signature.ts';
import { writeHomeConfig } from './init/home-config.ts';
import { readNamed } from './named-file.ts';

/** The keys whose verdicts count, from the home's key ring or another file. @throws FlipstreamError `key_ring_invalid` (usage) */
export function readKeyRing(path: string): KeyRing {
  const read = readJsonAs(KeyRing, () => readNamed(path));
  if (read.ok) return read.data;
  const message = hasCode(read.cause, 'ENOENT')
    ? `There is no key ring at ${path}, and without one no verdict counts: flipstream init <harness> makes one for a home, and flipstream key-ring accept <file> takes what flipstream oracle key export printed into it.`
    : `${path} cannot be used as key ring: ${read.problem}. Without one no verdict counts: put there what flipstream oracle key export prints.`;
  throw new FlipstreamError('key_ring_invalid', 'usage', message, read.cause);
}

/** Of what a ring says, however its file is laid out; `verify` prints the same. */
export function keyRingHash(ring: KeyRing): string {
  return sha256(canonical(ring));
}

/**
 * The home's key ring, as long as it is the accepted one. A home without a pin trusts what is there, and `doctor` says so.
 * @throws FlipstreamError `key_ring_invalid`, `key_ring_changed`, `config_invalid` (usage)
 */
export function trustedKeyRing(home: Home): KeyRing {
  const ring = readKeyRing(home.keyRing);
  const { key_ring_sha256: pin } = readSettings(home);
  const is = keyRingHash(ring);
  if (pin === undefined || pin === is) return ring;
  const message = `${home.keyRing} is not the key ring that was accepted (its SHA-256 is ${is}, ${home.config} names ${pin}): put that one back, or look at its keys and accept them with flipstream key-ring accept.`;
  throw new FlipstreamError('key_ring_changed', 'usage', message);
}

/** Replaces the home's key ring at once, readable by its owner alone, and pins it. @returns its hash */
export function acceptKeyRing(home: Home, ring: KeyRing): string {
  const key_ring_sha256 = keyRingHash(ring);
  const settings = readSettings(home);
  writeKeyRing(home, ring);
  writeHomeConfig(home, { ...settings, key_ring_sha256 });
  return key_ring_sha256;
}

/** The ring alone: the pin is the caller's to write. */
export function writeKeyRing(home: Home, ring: KeyRing): void {
  makeFolder(home.root);
  const fresh = `${home.keyRing}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(ring, null, 2)}\n`, { mode: 0o600 });
  renameSync(fresh, home.keyRing);
}
