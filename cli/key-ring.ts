import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { FlipstreamError, messageOf } from '../schemas/errors.ts';
import { KeyRing } from '../schemas/signature.ts';

/** The keys whose verdicts count, from the home's key ring or another file. @throws FlipstreamError `key_ring_invalid` (usage) */
export function readKeyRing(path: string): KeyRing {
  try {
    return KeyRing.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (cause) {
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : messageOf(cause);
    const message = `${path} cannot be used as key ring: ${why}. Without one no verdict counts: run flipstream init, or put there what flipstream oracle key prints.`;
    throw new FlipstreamError('key_ring_invalid', 'usage', message, cause);
  }
}
