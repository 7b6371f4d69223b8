import { createHash, createHmac } from 'node:crypto';

/** SHA-256 as 64 hex digits. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** Appendix A's `_hash`, keyed: HMAC-SHA-256, since the plain hash of a short secret can be guessed from. */
export function keyedHash(key: Uint8Array, data: string | Uint8Array): string {
  return createHmac('sha256', key).update(data).digest('hex');
}

/** Digest of content as stored. @param salt 16 bytes, hex, drawn anew for each event. */
export function saltedDigest(salt: string, content: string): string {
  return createHash('sha256').update(Buffer.from(salt, 'hex')).update(content).digest('hex');
}
