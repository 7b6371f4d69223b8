import { FlipstreamError, hasCode, messageOf } from '../schemas/errors.ts';

/** Exit codes of every command (docs/reference/cli.md). */
export const EXIT = {
  ok: 0,
  /** What was asked for did not succeed: an altered bundle, a problem found. */
  failed: 1,
  /** A flag, argument or configuration is wrong; nothing was done. */
  usage: 2,
  /** Done in part, or it cannot be told: an export with withheld content, a bundle that no verdict attests. */
  partial: 3,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code of an error, and the one sentence that a person reads. */
export function explain(error: unknown): { code: string; message: string; exit: ExitCode } {
  if (error instanceof FlipstreamError)
    return {
      code: error.code,
      message: error.message,
      exit: error.kind === 'usage' ? EXIT.usage : EXIT.failed,
    };
  if (hasCode(error, 'ERR_MODULE_NOT_FOUND'))
    return {
      code: 'package_incomplete',
      message: `A part of this installation is missing: run npm ci in the checkout, or install flipstream again (${messageOf(error)}).`,
      exit: EXIT.failed,
    };
  return {
    code: 'unexpected',
    message: `Unexpected: ${messageOf(error)} (FLIPSTREAM_DEBUG=1 shows where).`,
    exit: EXIT.failed,
  };
}
