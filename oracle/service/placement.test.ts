import { mkdirSync, writeFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../testing.ts';
import { localNetworks } from './local-networks.ts';
import { placementOf } from './placement.ts';

test.each([
  [{}, 'same_host'],
  [{ remoteAddress: '::1', localAddress: '::1' }, 'same_host'],
  [{ remoteAddress: '127.0.0.5', localAddress: '127.0.0.1' }, 'same_host'],
  [{ remoteAddress: '::ffff:127.0.0.1' }, 'same_host'],
  [{ remoteAddress: '10.0.0.7', localAddress: '10.0.0.7' }, 'same_host'],
  [{ remoteAddress: '10.0.0.8', localAddress: '10.0.0.7' }, 'separate_host'],
  [{ remoteAddress: '2001:db8::127.0.0.1', localAddress: '2001:db8::1' }, 'separate_host'],
])('a peer at %j: %s, where the operator says separate_host', (ends, placement) => {
  expect(placementOf(ends, 'separate_host', new BlockList())).toBe(placement);
});

/** As Linux tells of them: what each interface is, by the files that it has. */
const SYS: Record<string, string> = {
  'docker0/bridge/x': '',
  'docker0/brif/veth1/x': '',
  'veth1/x': '',
  // a card is a port of this one: what it reaches is the network outside
  'br-lan/bridge/x': '',
  'br-lan/brif/eno1/x': '',
  'eno1/device/x': '',
  'eno2/device/x': '',
  'eno2/ifindex': '2\n',
  'eno2/iflink': '2\n',
  'eno2/uevent': 'INTERFACE=eno2\n',
  'vlan7/ifindex': '9\n',
  'vlan7/iflink': '2\n',
  'vlan7/uevent': 'DEVTYPE=vlan\nINTERFACE=vlan7\n',
  // what a container calls its own
  'eth0/ifindex': '12\n',
  'eth0/iflink': '13\n',
  'eth0/uevent': 'INTERFACE=eth0\n',
};

const at = (address: string, prefix: number): NetworkInterfaceInfo[] => {
  const rest = { address, cidr: `${address}/${prefix}`, netmask: '', mac: '', internal: false };
  return [address.includes(':') ? { ...rest, family: 'IPv6', scopeid: 0 } : { ...rest, family: 'IPv4' }];
};

function networks(): BlockList {
  const sys = temporaryDirectory();
  for (const [path, content] of Object.entries(SYS)) {
    mkdirSync(dirname(join(sys, path)), { recursive: true });
    writeFileSync(join(sys, path), content);
  }
  return localNetworks(sys, {
    docker0: [...at('172.18.0.1', 16), ...at('fd12::1', 64)],
    'br-lan': at('192.168.1.5', 24),
    eno2: at('10.0.0.7', 24),
    vlan7: at('10.7.0.7', 24),
    eth0: at('172.30.0.2', 16),
    gone: at('10.9.0.1', 24),
  });
}

test.each([
  ['172.18.0.2', '172.18.0.1', 'same_host'],
  ['::ffff:172.18.0.2', '::ffff:172.18.0.1', 'same_host'],
  ['fd12::2', 'fd12::1', 'same_host'],
  ['172.30.0.1', '172.30.0.2', 'same_host'],
  ['10.0.0.7', '192.168.1.5', 'same_host'],
  ['172.19.0.2', '172.18.0.1', 'separate_host'],
  ['192.168.1.6', '192.168.1.5', 'separate_host'],
  ['10.0.0.8', '10.0.0.7', 'separate_host'],
  ['10.7.0.8', '10.7.0.7', 'separate_host'],
  ['10.9.0.8', '10.9.0.1', 'separate_host'],
])(
  'a peer at %s, asking %s: %s by the networks of this machine',
  (remoteAddress, localAddress, placement) => {
    expect(placementOf({ remoteAddress, localAddress }, 'separate_host', networks())).toBe(placement);
  },
);
