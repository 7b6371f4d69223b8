import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitBill } from '../src/bill.js';

test('no cent is lost', () => {
  for (const [cents, people] of [
    [1000, 3],
    [1, 2],
    [99, 7],
    [0, 4],
  ]) {
    const shares = splitBill(cents, people);
    assert.equal(
      shares.reduce((sum, share) => sum + share, 0),
      cents,
    );
  }
});

test('the first people pay what is left over, one cent each', () => {
  assert.deepEqual(splitBill(1000, 3), [334, 333, 333]);
  assert.deepEqual(splitBill(5, 3), [2, 2, 1]);
});
