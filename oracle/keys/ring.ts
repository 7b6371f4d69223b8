import { existsSync, readFileSync } from 'node:fs';
import { FlipstreamError } from '../../schemas/errors.ts';
import { readJsonAs } from '../../schemas/read-as.ts';
import { KeyRing, verdictHash } from '../../schemas/signature.ts';
import type { OracleDb } from '../db.ts';
import { replaceFile } from '../files.ts';
import type { OracleHome } from '../home.ts';
import type { RunnerKind } from '../runner/runner.ts';
import { verdictsOf } from './chain.ts';
import { asSigning, loadKey, newKey, type Placement, replaceKey, type SigningKey } from './key.ts';

type Entry = KeyRing['keys'][number];

/**
 * Every key that this home ever signed with, and what each may claim: what the streams' side pins.
 * @throws FlipstreamError `key_ring_invalid` (usage) when the home's own copy cannot be read.
 */
export function exportKeyRing(home: OracleHome, runner: RunnerKind): KeyRing {
  const ring = readRing(home);
  const key = loadKey(home, runner);
  if (ring.keys.some(({ key_id }) => key_id === key.key_id)) return ring;
  // The home of an earlier release has no ring of its own.
  return { v: 1, keys: [...ring.keys, entryOf(key, runner, ['same_host'])] };
}

/** Says what the home's key may claim: nothing beyond its runner and these places counts under it. */
export function allow(home: OracleHome, runner: RunnerKind, placements: Placement[]): KeyRing {
  const key = loadKey(home, runner);
  const others = exportKeyRing(home, runner).keys.filter(({ key_id }) => key_id !== key.key_id);
  return writeRing(home, [...others, entryOf(key, runner, placements)]);
}

/** What the home's key may say of where the oracle stands. */
export function placementsOf(home: OracleHome, runner: RunnerKind): Placement[] {
  const { key_id } = loadKey(home, runner);
  const entry = exportKeyRing(home, runner).keys.find((other) => other.key_id === key_id);
  return entry?.placements ?? ['same_host'];
}

/**
 * Signs with a new key from now on. The old private key is gone; what it signed goes on to count.
 * The service must not run meanwhile: it would go on with the old one.
 */
export function rotateKey(home: OracleHome, runner: RunnerKind): KeyRing {
  const { keys } = exportKeyRing(home, runner);
  const fresh = newKey();
  // The ring first: a key that nothing was signed with does no harm there, a verdict whose key is unknown does.
  const ring = writeRing(home, [
    ...keys,
    entryOf(asSigning(fresh, runner), runner, placementsOf(home, runner)),
  ]);
  replaceKey(home, runner, fresh);
  return ring;
}

/**
 * Takes a key back: of what it signed, only the verdicts up to `seq` go on to count, each named by its hash.
 * @param seq the last one that is trusted, or -1 for none.
 * @throws FlipstreamError `key_unknown`, `key_in_use`, `key_seq_unknown` (usage).
 */
export function revokeKey(
  home: OracleHome,
  runner: RunnerKind,
  db: OracleDb,
  keyId: string,
  seq: number,
): KeyRing {
  const ring = exportKeyRing(home, runner);
  if (!ring.keys.some(({ key_id }) => key_id === keyId))
    throw new FlipstreamError(
      'key_unknown',
      'usage',
      `this oracle never had a key ${keyId}; its keys are ${ring.keys.map(({ key_id }) => key_id).join(', ')}`,
    );
  if (loadKey(home, runner).key_id === keyId)
    throw new FlipstreamError(
      'key_in_use',
      'usage',
      `${keyId} is the key that this oracle signs with; first run: flipstream oracle key rotate`,
    );
  const hashes = verdictsOf(db, keyId)
    .slice(0, seq + 1)
    .map(verdictHash);
  if (hashes.length !== seq + 1)
    throw new FlipstreamError(
      'key_seq_unknown',
      'usage',
      `${keyId} has signed ${hashes.length} verdicts, so none has the number ${seq}; they count from 0`,
    );
  const revoked_after = { seq, hash: hashes.at(-1) ?? '', hashes: hashes.slice(0, -1) };
  return writeRing(
    home,
    ring.keys.map((entry) => (entry.key_id === keyId ? { ...entry, revoked_after } : entry)),
  );
}

function entryOf(key: SigningKey, runner: RunnerKind, placements: Placement[]): Entry {
  return { key_id: key.key_id, public_key: key.publicKey, runners: [runner], placements };
}

function writeRing(home: OracleHome, keys: Entry[]): KeyRing {
  const ring: KeyRing = { v: 1, keys };
  replaceFile(home.ring, `${JSON.stringify(ring, null, 2)}\n`);
  return ring;
}

function readRing(home: OracleHome): KeyRing {
  if (!existsSync(home.ring)) return { v: 1, keys: [] };
  const read = readJsonAs(KeyRing, () => readFileSync(home.ring, 'utf8'));
  if (read.ok) return read.data;
  const message = `${home.ring} cannot be used as key ring: ${read.problem}; restore it from a copy of this home`;
  throw new FlipstreamError('key_ring_invalid', 'usage', message, read.cause);
}
