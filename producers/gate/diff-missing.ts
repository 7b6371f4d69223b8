export interface DiffLimits {
  /** Bytes of one changed file. */
  fileBytes: number;
  /** Bytes of all new files together, and of the diff. */
  totalBytes: number;
}
export const DIFF_LIMITS: DiffLimits = { fileBytes: 8 * 1024 * 1024, totalBytes: 32 * 1024 * 1024 };
export const DIFF_DEADLINE_MS = 60_000;

/** Why there is no diff: such a request is sent with an empty one, marked, and graded. */
export type DiffMissing =
  | 'not_a_repository'
  | 'no_base'
  | 'file_too_large'
  | 'too_large'
  | 'timeout'
  | 'no_git'
  | 'git_failed';

/** Thrown on the way to a diff that cannot be built. */
export class Missing extends Error {
  readonly reason: DiffMissing;

  constructor(reason: DiffMissing) {
    super(reason);
    this.reason = reason;
  }
}
