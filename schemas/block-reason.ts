/**
 * The one sentence that an agent sees when it may not stop yet: for FAIL, ERROR and PENDING alike. In a file of
 * its own, so that the hook can hold it without the validators of grade.ts.
 */
export const BLOCK_REASON =
  'The task is not finished: the oracle does not accept the work yet. Keep working on the task, check your change yourself, and stop when you believe it is complete.';
