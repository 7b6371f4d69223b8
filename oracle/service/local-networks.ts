import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { BlockList, isIPv6 } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { join } from 'node:path';

/** Where Linux tells of its interfaces; elsewhere there is no such folder, and only this machine's own addresses count. */
const SYS = '/sys/class/net';

/**
 * Addresses of this machine, and networks that do not leave it: a bridge that no card is a port of (containers' and
 * virtual machines'), and, inside a container, the pair of interfaces to its host.
 */
export function localNetworks(
  sys: string = SYS,
  interfaces: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces(),
): BlockList {
  const local = new BlockList();
  for (const [name, infos = []] of Object.entries(interfaces)) {
    const inner = staysHere(join(sys, name), sys);
    for (const { address, cidr } of infos) {
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      local.addAddress(address, family);
      const prefix = Number(cidr?.split('/')[1]);
      if (inner && Number.isInteger(prefix)) local.addSubnet(address, prefix, family);
    }
  }
  return local;
}

function staysHere(path: string, sys: string): boolean {
  if (existsSync(join(path, 'bridge')))
    return !readdirSync(join(path, 'brif')).some((port) => existsSync(join(sys, port, 'device')));
  return isPair(path);
}

/** One end of a veth pair: linked to another interface, and no VLAN or the like upon it, which say what they are. */
function isPair(path: string): boolean {
  try {
    const [index, link, told] = ['ifindex', 'iflink', 'uevent'].map((name) =>
      readFileSync(join(path, name), 'utf8').trim(),
    );
    return index !== link && !/^DEVTYPE=(?!veth$)/m.test(told ?? '');
  } catch {
    return false; // gone meanwhile, or no Linux
  }
}
