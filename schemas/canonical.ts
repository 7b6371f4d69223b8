import canonicalize from 'canonicalize';

/**
 * Canonical JSON (RFC 8785) of a record, nulls and absent fields left out at every depth of plain objects,
 * so that a field added later as null does not change what was hashed before.
 *
 * @throws TypeError when the value holds something JSON cannot carry (NaN, a lone surrogate).
 */
export function canonical(value: unknown): string {
  const text = canonicalize(withoutNulls(value));
  if (text === undefined) throw new TypeError('canonical: the value has no JSON form');
  return text;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([, field]) => field !== null && field !== undefined);
  return Object.fromEntries(entries.map(([key, field]) => [key, withoutNulls(field)]));
}
