import { expect, test } from 'vitest';
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
  expect(placementOf(ends, 'separate_host')).toBe(placement);
});
