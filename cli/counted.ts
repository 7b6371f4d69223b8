/** A number of things as a message says it: `1 event`, `2 events`. @param many where an s does not make it */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
