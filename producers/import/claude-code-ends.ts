/** How a call of Claude Code ended, from what the model was shown of it and the harness's own result. */
import { asPayload, flag, own, text } from '../adapters/payload.ts';

interface Seen {
  name: string | null;
  /** As the model saw it. */
  text: string;
  isError: boolean;
  /** The row's `toolUseResult`. */
  result: unknown;
}

const DENIALS = [
  /^The user doesn't want to (?:proceed|take this action)/,
  /^Permission to use .{1,200} has been denied/s,
  /^Claude requested permissions to /,
];

export function endOf({ name, text: said, isError, result }: Seen): {
  status: string;
  exit_code: number | null;
} {
  const fields = asPayload(result) ?? {};
  const code = /^(?:Error: )?Exit code (\d{1,10})(?:\n|$)/.exec(said)?.[1];
  if (flag(fields, 'interrupted')) return { status: 'interrupted', exit_code: null };
  if (DENIALS.some((form) => form.test(said))) return { status: 'denied', exit_code: null };
  if (/^\[Request interrupted by user/.test(said)) return { status: 'interrupted', exit_code: null };
  if (isError) return { status: 'error', exit_code: code === undefined ? null : Number(code) };
  const success =
    name === 'Bash' &&
    text(fields, 'stdout') !== undefined &&
    ['returnCodeInterpretation', 'backgroundTaskId', 'timedOutAfterMs'].every((field) => !own(fields, field));
  return { status: 'ok', exit_code: success ? 0 : null };
}
