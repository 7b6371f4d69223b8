/** Time comes from a clock that is passed in, so that tests need none of the real one. */
export type Clock = () => number;

/** ISO 8601 UTC with milliseconds, 24 characters, as every `ts` is stored. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
