/** Values that several commands take as flags, and what is said of a wrong one. */
import { z } from 'zod';

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
