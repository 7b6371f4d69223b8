// A rule over many inputs, from a fixed seed: the last balance is the sum.
import assert from 'node:assert/strict';
import { balances } from '../src/ledger.js';

let seed = 7;
const next = () => (seed = (seed * 48_271) % 2_147_483_647);
for (let run = 0; run < 200; run++) {
  const amounts = Array.from({ length: 1 + (next() % 20) }, () => (next() % 2001) - 1000);
  assert.equal(
    balances(amounts).at(-1),
    amounts.reduce((sum, amount) => sum + amount, 0),
  );
}
