import type { Content } from '../draft.ts';
import { redactAndCut, redactJson } from './json.ts';
import { type RedactedText, redactText } from './text.ts';

export interface SealOptions {
  /** The keyed hash; null leaves it out. */
  hash: ((data: string) => string) | null;
  /** Bytes. */
  limit: number;
}

/** Text, redacted, then cut, with hash and length of the whole. */
export function sealText(
  raw: string,
  { hash, limit }: SealOptions,
  redact: (text: string) => RedactedText = redactText,
): Content {
  const whole = raw.toWellFormed();
  let sealed = redactAndCut(whole, limit, redact);
  for (let most = limit; Buffer.byteLength(sealed.text) > limit + 64 && most > 64; ) {
    most = Math.floor((most * limit * 0.95) / Buffer.byteLength(sealed.text));
    sealed = redactAndCut(whole, most, redact);
  }
  const { text, hits, cut } = sealed;
  return { text, hits, cut, ...measured(whole, hash) };
}

/** A JSON value as JSON text, its strings redacted, then cut, with hash and length of the whole. */
export function sealJson(value: unknown, { hash, limit }: SealOptions): Content {
  return { ...redactJson(value, limit), ...measured(jsonText(value), hash) };
}

function measured(whole: string | null, hash: SealOptions['hash']): { bytes: number; hash?: string } {
  if (whole === null) return { bytes: 0 };
  const bytes = Buffer.byteLength(whole);
  return hash === null ? { bytes } : { bytes, hash: hash(whole) };
}

/** Null for a value that is nested too deep for JSON.stringify: its length and hash stay unknown. */
function jsonText(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    return null;
  }
}
