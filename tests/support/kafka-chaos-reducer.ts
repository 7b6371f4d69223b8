import { counter } from '../../log/conformance/rig.ts';
import type { Reducer } from '../../log/log.ts';

const simple = counter('count');

/** Counts by key over two topics: what is joined, so that one of them alone being fenced shows. Slow, so that it is often interrupted. */
export const countBoth: Reducer<{ n: number }> = {
  ...simple,
  inputs: ['trace.raw', 'trace.events'],
  apply: (state, record, prepared) => {
    for (let n = 0; n < WORK; n++) Math.sqrt(n);
    return simple.apply(state, record, prepared);
  },
};

const WORK = 300_000;
