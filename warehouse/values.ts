import type { JS } from '@duckdb/node-api';

/** A value of an answer, as JSON carries it: a whole number beyond 2^53 is a string, bytes are hex, times ISO 8601. */
export type Value = string | number | boolean | null | Value[] | { [field: string]: Value };

export function plainValue(value: JS): Value {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(plainValue);
  return Object.fromEntries(Object.entries(value).map(([field, of]) => [field, plainValue(of)]));
}
