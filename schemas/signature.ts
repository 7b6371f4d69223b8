import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { canonical } from './canonical.ts';
import type { Verdict } from './generated.ts';
import { sha256 } from './hash.ts';

/** The public keys whose verdicts count, and what each may claim (oracle-design, "What is signed"). */
export const KeyRing = z.strictObject({
  v: z.literal(1),
  keys: z.array(
    z.strictObject({
      key_id: z.string().min(1),
      /** Ed25519 public key, PEM (SPKI). */
      public_key: z.string().min(1),
      /** Runners that a verdict under this key may name. */
      runners: z.array(z.enum(['process', 'container', 'vm'])),
      placements: z.array(z.enum(['same_host', 'separate_host'])).default(['same_host']),
      /**
       * The last verdict that is still trusted: nothing after it counts, whatever time it claims. With `hashes`, all
       * that came before it are named too; without them, whoever holds the key could sign another past.
       */
      revoked_after: z
        .strictObject({
          /** -1: nothing under this key counts. */
          seq: z.number().int().min(-1),
          hash: z.string(),
          hashes: z.array(z.string()).optional(),
        })
        .optional(),
    }),
  ),
});
export type KeyRing = z.infer<typeof KeyRing>;

/** What the signature covers: canonical JSON of every other field. */
function signedBytes(verdict: Omit<Verdict, 'signature'> & { signature?: string }): Buffer {
  const { signature: _, ...fields } = verdict;
  return Buffer.from(canonical(fields));
}

/** Signs a verdict. @param key Ed25519 private key. */
export function signVerdict(verdict: Omit<Verdict, 'signature'>, key: KeyObject): Verdict {
  return { ...verdict, signature: sign(null, signedBytes(verdict), key).toString('base64') };
}

/** The link from a verdict to the next one of its key: SHA-256 of the whole signed record. */
export function verdictHash(verdict: Verdict): string {
  return sha256(canonical(verdict));
}

export type Rejection =
  | 'unknown_key'
  | 'bad_signature'
  | 'runner_not_allowed'
  | 'placement_not_allowed'
  | 'revoked';

const parsed = new WeakMap<KeyRing, Map<string, KeyObject>>();

function publicKey(ring: KeyRing, keyId: string, pem: string): KeyObject {
  const keys = parsed.get(ring) ?? new Map<string, KeyObject>();
  parsed.set(ring, keys);
  const key = keys.get(keyId) ?? createPublicKey(pem);
  keys.set(keyId, key);
  return key;
}

/** Why a verdict does not count under a key ring, or null when it does. */
export function rejectionOf(verdict: Verdict, ring: KeyRing): Rejection | null {
  const entry = ring.keys.find((key) => key.key_id === verdict.key_id);
  if (!entry) return 'unknown_key';
  const key = publicKey(ring, entry.key_id, entry.public_key);
  const signature = Buffer.from(verdict.signature, 'base64');
  // Node reads base64 leniently: without this, one signature could be written in many ways.
  if (signature.toString('base64') !== verdict.signature) return 'bad_signature';
  if (!verify(null, signedBytes(verdict), key, signature)) return 'bad_signature';
  if (!entry.runners.some((runner) => runner === verdict.runner)) return 'runner_not_allowed';
  if (!entry.placements.some((placement) => placement === verdict.placement)) return 'placement_not_allowed';
  return entry.revoked_after && !stillTrusted(verdict, entry.revoked_after) ? 'revoked' : null;
}

type Revocation = NonNullable<KeyRing['keys'][number]['revoked_after']>;

const trusted = new WeakMap<Revocation, ReadonlySet<string>>();

function stillTrusted(verdict: Verdict, revoked: Revocation): boolean {
  if (verdict.oracle_seq > revoked.seq) return false;
  if (verdict.oracle_seq === revoked.seq) return verdictHash(verdict) === revoked.hash;
  if (!revoked.hashes) return true;
  const hashes = trusted.get(revoked) ?? new Set(revoked.hashes);
  trusted.set(revoked, hashes);
  return hashes.has(verdictHash(verdict));
}
