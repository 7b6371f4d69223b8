import type { Placement } from '../keys/key.ts';

/** The two ends of a connection, as a socket has them; a unix socket has none. */
export interface Ends {
  remoteAddress?: string | undefined;
  localAddress?: string | undefined;
}

/**
 * Where the oracle stood as seen from who asked: a peer on this machine makes it `same_host`, whatever the operator
 * says of the host.
 * @param stated what the operator says
 */
export function placementOf({ remoteAddress: peer = '', localAddress }: Ends, stated: Placement): Placement {
  const local = peer === '' || peer === '::1' || /^(::ffff:)?127\./.test(peer) || peer === localAddress;
  return local ? 'same_host' : stated;
}
