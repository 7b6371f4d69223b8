/** Values that several commands take as flags, and what is said of a wrong one. */
import { Option } from 'commander';
import { z } from 'zod';
import { FlipstreamError } from '../schemas/errors.ts';

const whole = 'must be a whole number';

/** A whole number above 0. */
export const Count = z.coerce.number(whole).int(whole).positive('must be above 0');

/** A TCP port; 0 lets the system choose. */
export const Port = z.coerce
  .number('must be a port')
  .int('must be a port')
  .min(0, 'must be a port')
  .max(65_535, 'must be a port');

/** A duration in whole milliseconds. */
export const Milliseconds = z.coerce
  .number('must be milliseconds')
  .int('must be whole milliseconds')
  .positive('must be above 0');

/** A flag that others contradict: with one of them, the command line is refused. @param others as their values are called */
export function against(others: readonly string[], flags: string, description: string): Option {
  return new Option(flags, description).conflicts([...others]);
}

/**
 * Refuses flags beside something that leaves them no meaning.
 * @param flags those that are given have another value than undefined and false
 * @throws FlipstreamError `flag_invalid` (usage)
 */
export function refuseBeside(what: string, flags: Readonly<Record<string, unknown>>): void {
  const given = Object.entries(flags).find(([, value]) => value !== undefined && value !== false);
  if (!given) return;
  throw new FlipstreamError(
    'flag_invalid',
    'usage',
    `${what} and ${given[0]} exclude each other: leave out one.`,
  );
}
