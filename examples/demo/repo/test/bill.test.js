import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitBill } from '../src/bill.js';

test('an even bill is shared evenly', () => {
  assert.deepEqual(splitBill(900, 3), [300, 300, 300]);
});

test('nobody cannot pay', () => {
  assert.throws(() => splitBill(900, 0), RangeError);
});
