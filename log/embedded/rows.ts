import type { SQLOutputValue } from 'node:sqlite';
import { FlipstreamError } from '../../schemas/errors.ts';
import { DAMAGED_ADVICE } from './sqlite-errors.ts';

type Row = Record<string, SQLOutputValue> | undefined;

function wrong(column: string): never {
  throw new FlipstreamError(
    'log_damaged',
    'fatal',
    `the log's file holds no usable ${column}: ${DAMAGED_ADVICE}`,
  );
}

/** A column's integer. @throws FlipstreamError `log_damaged` */
export function integer(row: Row, column: string): number {
  const value = row?.[column];
  return typeof value === 'number' ? value : wrong(column);
}

/** A column's text. @throws FlipstreamError `log_damaged` */
export function text(row: Row, column: string): string {
  const value = row?.[column];
  return typeof value === 'string' ? value : wrong(column);
}

/** A column's bytes, not copied. @throws FlipstreamError `log_damaged` */
export function bytes(row: Row, column: string): Buffer {
  const value = row?.[column];
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : wrong(column);
}
