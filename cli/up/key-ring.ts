import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Home } from '../../producers/home.ts';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { KeyRing } from '../../schemas/signature.ts';

/** The keys whose verdicts count here. @throws FlipstreamError `key_ring_invalid` (usage) */
export function readKeyRing(home: Home): KeyRing {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(home.keyRing, 'utf8'));
  } catch (cause) {
    throw invalid(home, messageOf(cause), cause);
  }
  const parsed = KeyRing.safeParse(json);
  if (parsed.success) return parsed.data;
  throw invalid(home, z.prettifyError(parsed.error), parsed.error);
}

function invalid(home: Home, why: string, cause: unknown): FlipstreamError {
  const message = `${home.keyRing} cannot be used: ${why}. Without a key ring no verdict counts: run flipstream init, or put the oracle's there (flipstream oracle key).`;
  return new FlipstreamError('key_ring_invalid', 'usage', message, cause);
}
