import assert from 'node:assert/strict';
import { test } from 'node:test';
import { balances } from '../src/ledger.js';

test('each balance holds all amounts before it', () => assert.deepEqual(balances([1, 2, 3]), [1, 3, 6]));
