/** SWE-agent's own words: its commands, and how it says that one did not run or was stopped. It tells no exit codes. */

/** Commands of SWE-agent's own; any other action is one for the shell. */
const COMMANDS: ReadonlySet<string> = new Set([
  ...['open', 'goto', 'scroll_up', 'scroll_down', 'create', 'edit', 'insert', 'append', 'search_dir'],
  ...['search_file', 'find_file', 'submit', 'str_replace_editor', 'filemap', 'view_image'],
  ...['exit_forfeit', 'exit_cost', 'exit_error'],
]);

const FAILURES: readonly [RegExp, string][] = [
  [/^Your proposed edit has introduced new syntax error/, 'error'],
  [/^Your bash command contained syntax errors and was NOT executed/, 'error'],
  [/^The command .{0,4096}? was cancelled because it took more than/s, 'interrupted'],
  [/^EXECUTION TIMED OUT/, 'interrupted'],
];

/** The tool that an action is a call of. */
export function toolOf(action: string): string {
  const [word = ''] = action.trim().split(/\s/, 1);
  return COMMANDS.has(word) ? word : 'bash';
}

/** How a call ended, as far as its observation says so. */
export function statusOf(observation: string): string | null {
  return FAILURES.find(([form]) => form.test(observation))?.[1] ?? null;
}
