/** docs/reference/cli.md, written from the program itself so that the two cannot differ. */
import type { Command, Option } from 'commander';
import { EXIT } from './exit.ts';

const EXIT_MEANING: Record<keyof typeof EXIT, string> = {
  ok: 'done, and nothing is wrong',
  failed: 'it did not succeed, or something is wrong: an altered bundle, a problem that `doctor` found',
  usage:
    'a flag, an argument or the configuration is wrong; nothing was done; one sentence on stderr says what to change',
  partial:
    'done in part, or it cannot be told: a bundle that no verdict attests, a session without a key ring',
  interrupted:
    'stopped by Ctrl-C or SIGTERM before it was done; what runs until it is stopped (`up`, `oracle serve`, `flips --follow`) ends with 0 then',
};

const INTRO = `# The \`flipstream\` command

<!-- Written by \`npm run generate\` from the program. Do not edit. -->

Results go to stdout, everything else to stderr. With \`--json\` the result is one JSON document (JSON Lines with
\`--follow\`), an error is \`{"error":{"code","message"}}\` on stderr ([errors](errors.md)), and nobody is asked anything. What
takes longer than two seconds says on a terminal what it is at.

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
| \`FLIPSTREAM_METRICS_PORT\`, \`FLIPSTREAM_BUCKET_MS\` | of \`up\`, as its flags |
| \`FLIPSTREAM_DEBUG\` | \`1\`: errors come with their stack |
| \`CLAUDE_CONFIG_DIR\` | where Claude Code's user settings are. Default: \`~/.claude\` |
`;

/** Flags that many commands take, each described once. */
const SHARED: readonly string[] = [
  '--json',
  '--home',
  '--oracle-home',
  '--engine',
  '--brokers',
  '--registry',
];

/** The reference page of a program. */
export function reference(program: Command): string {
  const codes = Object.entries(EXIT).map(([name, code]) => `| ${code} | ${meaningOf(name)} |\n`);
  const sections = program.commands.flatMap((command) =>
    command.name() === 'init'
      ? [ofHarnesses(command)]
      : leaves(command, [program.name()]).map(({ path, command: leaf }) => section(path, leaf)),
  );
  return `${INTRO}${codes.join('')}${ENVIRONMENT}\n## Common flags\n\n${shared(program)}\n## Commands\n\n${sections.join('\n')}`;
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

function shared(program: Command): string {
  const all = leaves(program).flatMap(({ command }) => command.options);
  const rows = SHARED.flatMap((long) => {
    const option = all.find((one) => one.long === long);
    return option ? [`| ${cells(option)} | ${takers(program, long)} |\n`] : [];
  });
  return `| flag | | taken by |\n|---|---|---|\n${rows.join('')}`;
}

/** The commands that take a flag; a group of which all do is named once. */
function takers(program: Command, long: string): string {
  const takes = ({ command }: { command: Command }) => command.options.some((option) => option.long === long);
  if (leaves(program).every(takes)) return 'every command';
  const named = program.commands.flatMap((command) => {
    const parts = leaves(command);
    if (parts.every(takes)) return [command.commands.length > 0 ? `${command.name()} …` : command.name()];
    return parts.filter(takes).map(({ path }) => path);
  });
  return named.map((name) => `\`${name}\``).join(', ');
}

function section(path: string, command: Command): string {
  const args = command.registeredArguments.map((arg) => {
    const name = arg.variadic ? `${arg.name()}...` : arg.name();
    return arg.required ? ` <${name}>` : ` [${name}]`;
  });
  const options = table(ownOptions(command));
  return `### \`${path}${args.join('')}\`\n\n${sentence(command.description())}\n${options}`;
}

/** Harnesses are connected in the same way: what they have in common is told once. */
function ofHarnesses(init: Command): string {
  const [first, ...others] = init.commands.map((command) => ownOptions(command));
  const has = (options: readonly Option[] | undefined, { long }: Option) =>
    options?.some((option) => option.long === long) ?? false;
  const common = (first ?? []).filter((option) => others.every((options) => has(options, option)));
  const names = init.commands.map((command) => `\`${command.name()}\``).join(', ');
  const extra = init.commands.map((command) => {
    const options = ownOptions(command).filter((option) => !has(common, option));
    return options.length > 0 ? `\nWith \`${command.name()}\` also:\n${table(options)}` : '';
  });
  return `### \`flipstream init <harness>\`\n\nRegister the hook with a harness; shows the change first. Harnesses: ${names}.\n${table(common)}${extra.join('')}`;
}

function ownOptions(command: Command): Option[] {
  return command.options.filter(({ long }) => !SHARED.includes(long ?? ''));
}

function table(options: readonly Option[]): string {
  if (options.length === 0) return '';
  return `\n| flag | |\n|---|---|\n${options.map((option) => `| ${cells(option)} |\n`).join('')}`;
}

function cells({ flags, description }: Option): string {
  return `\`${flags.replaceAll('|', '\\|')}\` | ${description.replaceAll('|', '\\|')}`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
