/** The keys that a bundle is checked with: nothing in a ring may be said twice, since only one of both would count. */
import { createPublicKey } from 'node:crypto';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { KeyRing } from '../../schemas/signature.ts';

/** What is wrong with a ring whose fields are all right, one sentence each. */
export function faultsOf({ keys }: KeyRing): string[] {
  return keys.flatMap(({ key_id, public_key }, at) => {
    const before = keys.slice(0, at);
    if (before.some((key) => key.key_id === key_id)) return [`It names the key ${key_id} twice.`];
    const der = derOf(public_key);
    if (der === null) return [`What it gives as key ${key_id} is no Ed25519 public key.`];
    const same = before.find((key) => derOf(key.public_key) === der);
    return same ? [`It names one key twice, as ${same.key_id} and as ${key_id}.`] : [];
  });
}

/** @throws FlipstreamError `key_ring_invalid` (usage) when a ring that was given contradicts itself. */
export function refuseFaulty(given: KeyRing): void {
  const faults = faultsOf(given);
  if (faults.length === 0) return;
  const message = `The key ring that was given cannot be used: ${faults.join(' ')} Give what flipstream oracle key export prints.`;
  throw new FlipstreamError('key_ring_invalid', 'usage', message);
}

/** The key itself, however its PEM is broken into lines. */
function derOf(pem: string): string | null {
  try {
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType !== 'ed25519') return null;
    return key.export({ type: 'spki', format: 'der' }).toString('base64');
  } catch {
    return null;
  }
}
