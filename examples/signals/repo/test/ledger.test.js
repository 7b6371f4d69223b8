import assert from 'node:assert/strict';
import { test } from 'node:test';
import { balances, inWords } from '../src/ledger.js';

test('no amounts, no balances', () => assert.deepEqual(balances([]), []));
test('cents are written with two digits', () => assert.equal(inWords(105), '1.05'));
