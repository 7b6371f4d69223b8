/**
 * The balance after each of the amounts, in cents.
 * @param {number[]} amounts
 * @returns {number[]}
 */
export function balances(amounts) {
  let sum = 0;
  return amounts.map((amount) => {
    sum = amount;
    return sum;
  });
}

/**
 * Cents as text, with two digits.
 * @param {number} cents
 * @returns {string}
 */
export function inWords(cents) {
  return (cents / 100).toFixed(2);
}
