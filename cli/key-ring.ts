import { readFileSync } from 'node:fs';
import { FlipstreamError } from '../schemas/errors.ts';
import { readJsonAs } from '../schemas/read-as.ts';
import { KeyRing } from '../schemas/signature.ts';

/** The keys whose verdicts count, from the home's key ring or another file. @throws FlipstreamError `key_ring_invalid` (usage) */
export function readKeyRing(path: string): KeyRing {
  const read = readJsonAs(KeyRing, () => readFileSync(path, 'utf8'));
  if (read.ok) return read.data;
  const message = `${path} cannot be used as key ring: ${read.problem}. Without one no verdict counts: run flipstream init, or put there what flipstream oracle key export prints.`;
  throw new FlipstreamError('key_ring_invalid', 'usage', message, read.cause);
}
