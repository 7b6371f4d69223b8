/**
 * Which events of a session have been seen: what makes events once each. Bounded: intervals of `seq` by
 * chain, and the header hashes of the newest events only, which tell a duplicate from a fork.
 */
import { FlipstreamError } from '../../schemas/errors.ts';
import { add, has, type Interval, positionOf } from '../intervals.ts';
import { get, type Keyed, set } from '../keyed.ts';

/** A chain with more gaps than this is no chain: what opens another gap is set aside, not guessed at. */
export const MAX_INTERVALS = 1024;
/** Homes that may have captured one session. */
export const MAX_CHAINS = 64;
/**
 * Header hashes remembered a chain. A collector that starts again republishes what it had not marked as
 * published, the newest events; a copied home forks at its newest event. Below this window an event whose
 * seq has been seen counts as a duplicate.
 */
export const WINDOW = 256;

interface SeenChain {
  seen: Interval[];
  /** `[seq, hash]` in order of arrival; every hash of a seq at `floor` or above is here. */
  recent: [number, string][];
  floor: number;
  /** Events found to be forks. */
  forks: number;
  /** Events found to be seen before. */
  duplicates: number;
}

export interface Seen {
  chains: Keyed<SeenChain>;
}

export type Sighting = 'new' | 'fork' | 'duplicate';

const HASH_CHARS = 22;

/**
 * Notes an event in `seen` (changed in place) and says whether it is new.
 * @throws FlipstreamError `bad_seq`, `too_many_chains`, `too_many_gaps` (poison): nothing was noted.
 */
export function notice(seen: Seen, chainId: string, seq: number, headerHash: string): Sighting {
  if (!Number.isSafeInteger(seq) || seq < 0)
    throw new FlipstreamError('bad_seq', 'poison', `an event of chain ${chainId} has the seq ${seq}`);
  const chain = chainOf(seen, chainId);
  const hash = Buffer.from(headerHash, 'hex').toString('base64url').slice(0, HASH_CHARS);
  if (!has(chain.seen, seq)) {
    assertRoom(chain, chainId, seq);
    add(chain.seen, seq);
    remember(chain, seq, hash);
    return 'new';
  }
  const known = chain.recent.some(([at, other]) => at === seq && other === hash);
  if (known || seq < chain.floor) {
    chain.duplicates++;
    return 'duplicate';
  }
  chain.forks++;
  remember(chain, seq, hash);
  return 'fork';
}

function chainOf(seen: Seen, chainId: string): SeenChain {
  const known = get(seen.chains, chainId);
  if (known) return known;
  if (Object.keys(seen.chains).length >= MAX_CHAINS)
    throw new FlipstreamError(
      'too_many_chains',
      'poison',
      `a session has more than ${MAX_CHAINS} chains; ${chainId} is one too many`,
    );
  const made: SeenChain = { seen: [], recent: [], floor: 0, forks: 0, duplicates: 0 };
  set(seen.chains, chainId, made);
  return made;
}

function assertRoom(chain: SeenChain, chainId: string, seq: number): void {
  if (chain.seen.length < MAX_INTERVALS) return;
  const at = positionOf(chain.seen, seq);
  const joins = chain.seen[at - 1]?.[1] === seq - 1 || chain.seen[at]?.[0] === seq + 1;
  if (!joins)
    throw new FlipstreamError(
      'too_many_gaps',
      'poison',
      `chain ${chainId} has more than ${MAX_INTERVALS} gaps; the event at ${seq} would make another`,
    );
}

function remember(chain: SeenChain, seq: number, hash: string): void {
  if (seq < chain.floor) return;
  chain.recent.push([seq, hash]);
  if (chain.recent.length <= WINDOW) return;
  const lowest = chain.recent.reduce((low, [at]) => Math.min(low, at), seq);
  chain.floor = lowest + 1;
  chain.recent = chain.recent.filter(([at]) => at > lowest);
}
