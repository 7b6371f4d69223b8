/** Work of many seconds, cut into steps, so that meanwhile progress is told and Ctrl-C is heard. */
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Progress } from './progress.ts';

/** Yields, a few times a second, what it is at: `1,200 of 100,000 events`. */
export type Steps<T> = Generator<string, T, undefined>;

/** Shorter than anyone notices. */
const SLICE_MS = 50;

/** Takes every step, and lets whatever else waits have its turn in between. */
export async function inSteps<T>(work: Steps<T>, progress: Progress): Promise<T> {
  for (let since = performance.now(); ; ) {
    const step = work.next();
    if (step.done) return step.value;
    if (performance.now() - since < SLICE_MS) continue;
    progress.update(step.value);
    await othersTurn();
    since = performance.now();
  }
}

/** Takes every step without a pause. */
export function atOnce<T>(work: Steps<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}

/** A step of a loop, now and then. @param what is done: `events checked` */
export function* stepOf(done: number, of: number, what: string): Steps<void> {
  if (done % EVERY === 0) yield `${done} of ${of} ${what}`;
}

const EVERY = 64;

/** The list anew, item by item. @param what as `stepOf` */
export function* mapping<A, B>(
  list: readonly A[],
  what: string,
  make: (item: A, index: number) => B,
): Steps<B[]> {
  const made: B[] = [];
  for (const [index, item] of list.entries()) {
    made.push(make(item, index));
    yield* stepOf(made.length, list.length, what);
  }
  return made;
}
