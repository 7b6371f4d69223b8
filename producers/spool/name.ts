/** Name order is order of capture: microseconds since 1970, then who wrote it. */
let last = 0;

/** @param ms time of capture, milliseconds with a fraction. Within one process names only ever grow. */
export function entryName(ms: number): string {
  last = Math.max(last + 1, Math.floor(ms * 1000));
  const random = Math.floor(Math.random() * 0xffffffff)
    .toString(16)
    .padStart(8, '0');
  return `${String(last).padStart(16, '0')}-${process.pid}-${random}.json`;
}
