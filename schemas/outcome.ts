/** What became of a session (design.md, "The verdict"). Null in a record: it is still open. */

/** What the end of a session without a signed verdict may say; appendix A's and those of oracle-design. */
export const UNGRADED_OUTCOMES = [
  'aborted',
  'no_task',
  'ungraded',
  'pending',
  'oracle_error',
  'gate_error',
] as const;

export const OUTCOMES = ['flipped', 'no_flip', ...UNGRADED_OUTCOMES] as const;
