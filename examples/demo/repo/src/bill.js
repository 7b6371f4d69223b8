/** Shares a bill of whole cents between people. */
export function splitBill(cents, people) {
  if (!Number.isInteger(people) || people < 1) throw new RangeError('people: at least one');
  const share = Math.floor(cents / people);
  return Array.from({ length: people }, () => share);
}
