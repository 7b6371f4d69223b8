import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { readSettings, type Settings } from '../../producers/settings.ts';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { addCommand, type Cli, type Context, handle, ORACLE_HOME_FLAG } from '../command.ts';
import type { Config } from '../config.ts';
import { confirm } from '../init/ask.ts';
import { type Plan, planInit, planUndo } from '../init/claude-code.ts';
import { loginUsers } from '../init/login-users.ts';
import { freePort, prepare } from '../init/prepare.ts';
import type { Registration } from '../init/registration.ts';
import { dropReceipt, writeReceipt, writeSettings } from '../init/settings-file.ts';
import { unifiedDiff } from '../init/text-diff.ts';

const Flags = z.looseObject({
  settings: z.string().optional(),
  project: z.boolean().default(false),
  transport: z.enum(['command', 'http'], 'must be command or http').default('command'),
  rotate: z.boolean().default(false),
  force: z.boolean().default(false),
  undo: z.boolean().default(false),
  yes: z.boolean().default(false),
  oracle: z.url('must be a URL').optional(),
  oracleTokenFile: z.string().optional(),
});
type Flags = z.infer<typeof Flags>;

/** `flipstream init claude-code`. */
export function addInit(cli: Cli): void {
  const init = cli.program.command('init').description('connect a harness');
  const command = addCommand(
    init,
    'claude-code',
    'register the hook with Claude Code; shows the change first',
  )
    .option('--yes', 'make the change without asking')
    .option('--undo', 'take out exactly what init put in')
    .option('--project', 'write .claude/settings.json of this folder instead of the user\u2019s settings')
    .option('--settings <file>', 'write this settings file instead')
    .option('--transport <kind>', 'command (default) or http, through the resident collector')
    .option(...ORACLE_HOME_FLAG)
    .option('--rotate', 'replace the tokens')
    .option('--force', 'allow http on a machine with several login users')
    .option('--oracle <url>', 'use the oracle at this address instead of one on this machine')
    .option('--oracle-token-file <file>', 'file with the token for that oracle');
  handle(cli, command, Flags, async (context, flags) => {
    const file = settingsFile(context.config, flags);
    refuseUnsafe(flags);
    if (flags.undo) return undo(context, flags, file);
    await register(context, flags, file);
  });
}

async function register(context: Context, flags: Flags, file: string): Promise<void> {
  const { config } = context;
  const oracle = remoteOracle(config, flags);
  // Shown before anything is made: with the token that is there, or a placeholder of the same shape.
  const known = readSettings(config.home);
  const port = known.http?.port ?? (flags.transport === 'http' ? await freePort() : 0);
  const shown = registrationOf(config, flags, {
    ...known,
    http: known.http ?? { port, token: 'made-now' },
  });
  const preview = planInit(config.home, file, shown);
  if (!(await agreed(context, flags, preview))) return;
  const { settings, made } = await prepare(config, {
    startsCollector: true,
    transport: flags.transport,
    rotate: flags.rotate,
    oracle,
    port,
  });
  const plan = planInit(config.home, file, registrationOf(config, flags, settings));
  apply(context, plan);
  const changed = plan.after !== plan.before;
  context.out.result({ file, changed, made, transport: flags.transport, home: config.home.root }, () =>
    [
      changed ? `Wrote ${file}.` : `${file} is as it should be.`,
      ...made.map((what) => `Made ${what}.`),
      'Next: flipstream up. Sessions that run already pick the hooks up when they start anew.',
    ].join('\n'),
  );
}

async function undo(context: Context, flags: Flags, file: string): Promise<void> {
  const plan = planUndo(context.config.home, file);
  const changed = plan.after !== plan.before;
  if (changed && !(await agreed(context, flags, plan))) return;
  apply(context, plan);
  context.out.result({ file, changed, removed: changed && plan.after === null }, () =>
    changed
      ? `Took our hooks out of ${file}. What was recorded stays in ${context.config.home.root}.`
      : `There is nothing of ours in ${file}.`,
  );
}

/** Shows the change and asks; without a terminal, --yes is needed. */
async function agreed({ out, io }: Context, flags: Flags, plan: Plan): Promise<boolean> {
  if (plan.after === plan.before) return true;
  out.note(unifiedDiff(plan.before ?? '', plan.after ?? '', plan.file).replaceAll(/(Bearer )[\w-]+/g, '$1…'));
  if (flags.yes) return true;
  if (out.json || io.stdin.isTTY !== true)
    throw new FlipstreamError(
      'not_confirmed',
      'usage',
      `${plan.file} was not changed: run it again with --yes.`,
    );
  if (await confirm(io, `Write this to ${plan.file}?`)) return true;
  out.note('Nothing was changed.');
  return false;
}

function apply({ config }: Context, plan: Plan): void {
  if (plan.after !== plan.before) writeSettings(plan.file, plan.before, plan.after);
  if (plan.receipt) writeReceipt(config.home, plan.receipt);
  else dropReceipt(config.home, plan.file);
}

function registrationOf(config: Readonly<Config>, flags: Flags, settings: Settings): Registration {
  const base = { node: process.execPath, hook: config.home.hook, home: config.home.root };
  if (flags.transport === 'command' || !settings.http) return { transport: 'command', ...base };
  const { port, token } = settings.http;
  return { transport: 'http', ...base, url: `http://127.0.0.1:${port}/hook`, token };
}

function settingsFile(config: Readonly<Config>, flags: Flags): string {
  if (flags.settings && flags.project)
    throw new FlipstreamError('flag_invalid', 'usage', 'Give --settings or --project, not both.');
  if (flags.settings) return resolve(config.cwd, flags.settings);
  return flags.project ? join(config.cwd, '.claude', 'settings.json') : config.claudeSettings;
}

/** HTTP tokens live in user settings only, and on a machine with one user (oracle-design, "Where things live"). */
function refuseUnsafe(flags: Flags): void {
  if (flags.transport !== 'http' || flags.undo) return;
  if (flags.project)
    throw new FlipstreamError(
      'http_unsafe',
      'usage',
      'A project\u2019s settings are shared, and http needs a token in them: leave out --project, or use --transport command.',
    );
  const users = loginUsers();
  if (users.length > 1 && !flags.force)
    throw new FlipstreamError(
      'http_unsafe',
      'usage',
      `${users.length} users can log in to this machine, and a loopback port is open to all of them: use --transport command, or --force.`,
    );
}

function remoteOracle(config: Readonly<Config>, flags: Flags): { url: string; token: string } | null {
  if (!flags.oracle && !flags.oracleTokenFile) return null;
  if (!flags.oracle || !flags.oracleTokenFile)
    throw new FlipstreamError('flag_invalid', 'usage', '--oracle and --oracle-token-file go together.');
  const path = resolve(config.cwd, flags.oracleTokenFile);
  try {
    return { url: flags.oracle, token: readFileSync(path, 'utf8').trim() };
  } catch (cause) {
    throw new FlipstreamError(
      'flag_invalid',
      'usage',
      `--oracle-token-file ${path} cannot be read: ${messageOf(cause)}.`,
      cause,
    );
  }
}
