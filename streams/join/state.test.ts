import { expect, test } from 'vitest';
import type { TraceEvent } from '../../schemas/generated.ts';
import { blankEvent } from '../../schemas/testing.ts';
import { emptyState, mergeTrace } from './state.ts';

const request = (n: number): TraceEvent => ({
  ...blankEvent(),
  ...{
    type: 'notice',
    kind: 'grade_requested',
    chain_id: 'c',
    event_id: `e${n}`,
    seq: n,
    request_id: `r${n}`,
  },
});

test('a session with as many requests as are kept takes those it knows again, and no other', () => {
  const state = emptyState();
  for (let n = 0; n < 8192; n++) mergeTrace(state, request(n));
  const before = structuredClone(state);
  expect(mergeTrace(state, request(7))).toBe(false);
  expect(() => mergeTrace(state, request(8192))).toThrow(
    expect.objectContaining({ code: 'too_many_requests', kind: 'poison' }),
  );
  expect(state).toEqual(before);
});
