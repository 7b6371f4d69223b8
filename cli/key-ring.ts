import { readFileSync } from 'node:fs';
import { FlipstreamError, messageOf } from '../schemas/errors.ts';
import { readAs } from '../schemas/read-as.ts';
import { KeyRing } from '../schemas/signature.ts';

/** The keys whose verdicts count, from the home's key ring or another file. @throws FlipstreamError `key_ring_invalid` (usage) */
export function readKeyRing(path: string): KeyRing {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw unusable(path, messageOf(cause), cause);
  }
  const read = readAs(KeyRing, json);
  if (read.ok) return read.data;
  throw unusable(path, read.problem, read.cause);
}

function unusable(path: string, why: string, cause: unknown): FlipstreamError {
  const message = `${path} cannot be used as key ring: ${why}. Without one no verdict counts: run flipstream init, or put there what flipstream oracle key export prints.`;
  return new FlipstreamError('key_ring_invalid', 'usage', message, cause);
}
