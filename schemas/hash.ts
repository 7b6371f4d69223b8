import { createHash, createHmac, type KeyObject } from 'node:crypto';

/** SHA-256 as 64 hex digits. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/**
 * Appendix A's `_hash`, keyed: HMAC-SHA-256, since the plain hash of a short secret can be guessed from.
 * @param key who hashes much makes a KeyObject of it once: bytes are made one at every call, six times the cost
 */
export function keyedHash(key: Uint8Array | KeyObject, data: string | Uint8Array): string {
  return createHmac('sha256', key).update(data).digest('hex');
}

/** Digest of content as stored. @param salt 16 bytes, hex, drawn anew for each event. */
export function saltedDigest(salt: string, content: string): string {
  return createHash('sha256').update(Buffer.from(salt, 'hex')).update(content).digest('hex');
}
