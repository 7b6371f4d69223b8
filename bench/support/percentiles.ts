/** "p50 12 ms, p99 40 ms" of some durations in milliseconds. */
export function percentiles(took: readonly number[]): string {
  const sorted = [...took].sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(0);
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`;
}
