/** What `doctor` says of one thing: `problem` fails, `warning` does not. */
export interface Finding {
  check: string;
  state: 'ok' | 'warning' | 'problem';
  message: string;
  /** What to do about it. */
  mend?: string;
}

export const ok = (check: string, message: string): Finding => ({ check, state: 'ok', message });
export const warning = (check: string, message: string, mend: string): Finding => ({
  check,
  state: 'warning',
  message,
  mend,
});
export const problem = (check: string, message: string, mend: string): Finding => ({
  check,
  state: 'problem',
  message,
  mend,
});
