/** docs/reference/cli.md, written from the program itself so that the two cannot differ. */
import type { Command } from 'commander';
import { EXIT } from './exit.ts';

const EXIT_MEANING: Record<keyof typeof EXIT, string> = {
  ok: 'done, and nothing is wrong',
  failed: 'it did not succeed, or something is wrong: an altered bundle, a problem that `doctor` found',
  usage:
    'a flag, an argument or the configuration is wrong; nothing was done; one sentence on stderr says what to change',
  partial:
    'done in part, or it cannot be told: a bundle that no verdict attests, a session without a key ring',
  interrupted: 'stopped by Ctrl-C or SIGTERM before it was done',
};

const INTRO = `# The \`flipstream\` command

<!-- Written by \`npm run generate\` from the program. Do not edit. -->

Results go to stdout, everything else to stderr. Every command takes \`--json\`: its result is then one JSON document
(JSON Lines with \`--follow\`), an error is \`{"error":{"code","message"}}\` on stderr ([errors](errors.md)), and nobody is
asked anything. What takes longer than two seconds says on a terminal what it is at.

## Exit codes

| code | meaning |
|---|---|
`;

const ENVIRONMENT = `
## Environment

Flags win over the environment, the environment over \`config.json\` in the home directory.

| variable | meaning |
|---|---|
| \`FLIPSTREAM_HOME\` | home directory of the agent's side: spool, keys, log, warehouse. Default: \`flipstream\` in the platform's state directory (\`XDG_STATE_HOME\`, \`~/.local/state\`) |
| \`FLIPSTREAM_ORACLE_HOME\` | the oracle's home, never inside the other. Default: \`flipstream-oracle\` beside it |
| \`FLIPSTREAM_OFF\` | \`1\`: hooks and gate do nothing |
| \`FLIPSTREAM_DEBUG\` | \`1\`: errors come with their stack |
| \`CLAUDE_CONFIG_DIR\` | where Claude Code's user settings are. Default: \`~/.claude\` |
`;

/** The reference page of a program. */
export function reference(program: Command): string {
  const codes = Object.entries(EXIT).map(([name, code]) => `| ${code} | ${meaningOf(name)} |\n`);
  const commands = leaves(program).map(({ path, command }) => section(path, command));
  return `${INTRO}${codes.join('')}${ENVIRONMENT}\n## Commands\n\n${commands.join('\n')}`;
}

function meaningOf(name: string): string {
  return Object.entries(EXIT_MEANING).find(([known]) => known === name)?.[1] ?? '';
}

function leaves(command: Command, path: readonly string[] = []): { path: string; command: Command }[] {
  const here = [...path, command.name()];
  const own = command.registeredArguments.length > 0 || command.commands.length === 0;
  return [
    ...(own ? [{ path: here.join(' '), command }] : []),
    ...command.commands.flatMap((child) => leaves(child, here)),
  ];
}

function section(path: string, command: Command): string {
  const args = command.registeredArguments.map((arg) => {
    const name = arg.variadic ? `${arg.name()}...` : arg.name();
    return arg.required ? ` <${name}>` : ` [${name}]`;
  });
  const options = command.options
    .filter((option) => option.long !== '--json' && option.long !== '--home')
    .map(
      (option) =>
        `| \`${option.flags.replaceAll('|', '\\|')}\` | ${option.description.replaceAll('|', '\\|')} |\n`,
    );
  const table = options.length > 0 ? `\n| flag | |\n|---|---|\n${options.join('')}` : '';
  return `### \`${path}${args.join('')}\`\n\n${sentence(command.description())}\n${table}`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
