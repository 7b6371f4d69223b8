import { type BlockList, isIPv6 } from 'node:net';
import type { Placement } from '../keys/key.ts';
import { localNetworks } from './local-networks.ts';

/** The two ends of a connection, as a socket has them; a unix socket has none. */
export interface Ends {
  remoteAddress?: string | undefined;
  localAddress?: string | undefined;
}

/**
 * Where the oracle stood as seen from who asked: a peer on this machine, one in a container or a virtual machine of
 * it included, makes it `same_host`, whatever the operator says of the host.
 * @param stated what the operator says
 */
export function placementOf(
  { remoteAddress = '', localAddress }: Ends,
  stated: Placement,
  local: Pick<BlockList, 'check'> = localNetworks(),
): Placement {
  const peer = remoteAddress.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*/, '');
  const own = peer === '' || peer === '::1' || /^127\./.test(peer) || remoteAddress === localAddress;
  return own || local.check(peer, isIPv6(peer) ? 'ipv6' : 'ipv4') ? 'same_host' : stated;
}
