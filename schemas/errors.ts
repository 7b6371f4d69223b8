/** How the caller should treat an error: try again, give up, or set the one record aside and go on. */
export type ErrorClass = 'retryable' | 'fatal' | 'poison' | 'usage';

/**
 * An error a person can act on: what happened, to which input, what to do.
 * `code` is stable and documented in docs/reference/errors.md.
 */
export class FlipstreamError extends Error {
  readonly code: string;
  readonly kind: ErrorClass;

  constructor(code: string, kind: ErrorClass, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'FlipstreamError';
    this.code = code;
    this.kind = kind;
  }
}

/** The text of anything thrown, for a log line or a dead letter; never a stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether it is an error of the system with this code: `ENOENT`, say. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
