/** A command as a line for a POSIX shell. */
export function shellLine(command: readonly string[]): string {
  return command
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}

/** The words of a line as `shellLine` makes it. */
export function wordsOf(line: string): string[] {
  const quoted = line.match(/(?:'[^']*'|\\'|[^\s'])+/g) ?? [];
  return quoted.map((word) => word.replaceAll(/'([^']*)'|\\'/g, (_, inside?: string) => inside ?? "'"));
}
