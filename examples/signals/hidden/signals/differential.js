// What the work must not change: printed before and after, and compared by the oracle.
import { inWords } from '../src/ledger.js';

for (let cents = -250; cents <= 250; cents += 25) console.log(cents, inWords(cents));
