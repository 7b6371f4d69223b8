import { canonical } from './canonical.ts';
import { sha256 } from './hash.ts';

/**
 * What makes an event that event. With an id of the harness's own, `own_id` and `phase` name it; otherwise
 * the hash of the payload and its ordinal within one registration, so that the same command run twice is two
 * events while the same event heard through a plugin and through settings is one.
 */
export interface Identity {
  harness: string;
  session_id: string;
  agent_id: string | null;
  kind: string;
  own_id?: string;
  phase?: string;
  payload_hash?: string;
  ordinal?: number;
}

/** `event_id`: 64 hex digits. */
export function eventId(identity: Identity): string {
  return sha256(canonical(identity));
}
