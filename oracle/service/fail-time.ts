/**
 * How long a FAIL takes, milliseconds, counted from when its run began.
 *
 * At least as long as a run and a control run as slow as the baseline's, and a quarter more: a diff that is refused at
 * once, a hidden test that fails and a suite that fails (which a control run follows) so leave at the same moment. What
 * takes longer, because it hangs, sleeps, or the machine is busy, leaves when that has doubled often enough: it tells
 * how often, and nothing finer. It cannot tell nothing: whatever decides when code is stopped would turn slow honest
 * code into a FAIL, and a fixed end for all would make every FAIL as slow as the slowest.
 *
 * So code that sees a hidden test can tell by sleeping, for an attempt each, one of about log2(the longest run / the
 * floor) + 1 moments. Not bounded here are a PASS, which leaves when it is found, and who waits in the queue: it begins
 * when the one before has ended. What bounds all of it is the budget (docs/guides/trust.md).
 */
export function failTime(baselineMs: number, tookMs: number): number {
  const floor = Math.ceil(2.5 * baselineMs);
  // A task of an earlier release may not say how long its baseline took.
  if (floor === 0) return tookMs;
  let moment = floor;
  while (moment < tookMs) moment *= 2;
  return moment;
}
