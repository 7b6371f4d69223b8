import { keyedHash } from '../../schemas/hash.ts';
import type { Content } from '../draft.ts';
import { redactAndCut, redactJson } from './json.ts';
import { type RedactedText, redactText } from './text.ts';

/** Bytes that one field of content may take by default. */
export const FIELD_LIMIT = 64 * 1024;

export interface SealOptions {
  /** Key of the keyed hash; null leaves the hash out. */
  hashKey: Uint8Array | null;
  /** Bytes. */
  limit: number;
}

/** Text, redacted, then cut, with hash and length of the whole. */
export function sealText(
  raw: string,
  { hashKey, limit }: SealOptions,
  redact: (text: string) => RedactedText = redactText,
): Content {
  const whole = raw.toWellFormed();
  let sealed = redactAndCut(whole, limit, redact);
  for (let most = limit; Buffer.byteLength(sealed.text) > limit + 64 && most > 64; ) {
    most = Math.floor((most * limit * 0.95) / Buffer.byteLength(sealed.text));
    sealed = redactAndCut(whole, most, redact);
  }
  const { text, hits, cut } = sealed;
  return { text, hits, cut, ...measured(whole, hashKey) };
}

/** A JSON value as JSON text, its strings redacted, then cut, with hash and length of the whole. */
export function sealJson(value: unknown, { hashKey, limit }: SealOptions): Content {
  return { ...redactJson(value, limit), ...measured(jsonText(value), hashKey) };
}

function measured(whole: string | null, hashKey: Uint8Array | null): { bytes: number; hash?: string } {
  if (whole === null) return { bytes: 0 };
  const bytes = Buffer.byteLength(whole);
  return hashKey === null ? { bytes } : { bytes, hash: keyedHash(hashKey, whole) };
}

/** Null for a value that is nested too deep for JSON.stringify: its length and hash stay unknown. */
function jsonText(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    return null;
  }
}
