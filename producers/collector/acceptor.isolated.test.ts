import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Home } from '../home.ts';
import { readLosses } from '../spool/losses.ts';
import { prepareSpool } from '../spool/prepare.ts';
import { createAcceptor } from './acceptor.ts';
import { temporaryHome } from './testing.ts';

vi.mock('../capture.ts', () => ({
  capture: () => {
    throw new Error('an adapter met what it does not know');
  },
}));

let home: Home;
let remove: () => void;
beforeEach(() => {
  ({ home, remove } = temporaryHome());
  prepareSpool(home);
});
afterEach(() => remove());

test('a payload of which no entry can be made is refused, and counted as lost', async () => {
  const acceptor = createAcceptor({ home, hashKey: Buffer.alloc(32), limit: 1000, capture: 'same_user' });
  await expect(acceptor.accept(Buffer.from('{}'), 'http')).rejects.toThrow('does not know');
  expect(readLosses(home)).toMatchObject({ count: 1 });
});
