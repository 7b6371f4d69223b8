import { chmodSync, existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { hookUrl } from '../../producers/our-hook.ts';
import { readSettings, type Settings } from '../../producers/settings.ts';
import { shareHome } from '../../producers/shared-home.ts';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { addCommand, type Cli, type Context, handle, ORACLE_HOME_FLAG } from '../command.ts';
import type { Config } from '../config.ts';
import { against } from '../flags.ts';
import { agreed, apply, differs } from '../init/agree.ts';
import { doubles } from '../init/doubles.ts';
import { HARNESSES, type HarnessSetup } from '../init/harnesses.ts';
import { loginUsers } from '../init/login-users.ts';
import { handlersIn, urlOf } from '../init/ours.ts';
import { planInit, planUndo, type Target } from '../init/plan.ts';
import { freePort, prepare } from '../init/prepare.ts';
import { hooksOf, type Registration } from '../init/registration.ts';
import { readSettings as readSettingsFile } from '../init/settings-file.ts';
import { systemSetup } from '../init/system.ts';
import { readNamed } from '../named-file.ts';

const Common = {
  undo: z.boolean().default(false),
  yes: z.boolean().default(false),
  diff: z.boolean().default(false),
  rotate: z.boolean().default(false),
  oracle: z.url('must be a URL').optional(),
  oracleTokenFile: z.string().optional(),
};
const Flags = z.looseObject(Common);
type Flags = z.infer<typeof Flags>;
const ClaudeFlags = z.looseObject({
  ...Common,
  settings: z.string().optional(),
  project: z.boolean().default(false),
  transport: z.enum(['command', 'http'], 'must be command or http').optional(),
  force: z.boolean().default(false),
  system: z.string().optional(),
});
type ClaudeFlags = z.infer<typeof ClaudeFlags>;

/** What says how a registration is made, of which nothing is left to say when it is taken out. */
const MAKING = ['rotate', 'oracle', 'oracleTokenFile', 'transport', 'force'];

/** `flipstream init <harness>`. */
export function addInit(cli: Cli): void {
  const init = cli.program.command('init').description('connect a harness');
  const add = (name: string, title: string) =>
    addCommand(init, name, `register the hook with ${title}; shows the change first`)
      .option('--yes', 'make the change without asking')
      .addOption(against(MAKING, '--undo', 'take out exactly what init put in'))
      .option('--diff', 'show every line of the change')
      .option(...ORACLE_HOME_FLAG)
      .option('--rotate', 'replace the tokens')
      .option('--oracle <url>', 'use the oracle at this address instead of one on this machine')
      .option('--oracle-token-file <file>', 'file with the token for that oracle');

  const claude = add('claude-code', 'Claude Code')
    .option(
      '--project',
      'write .claude/settings.local.json of this folder instead of the user\u2019s settings',
    )
    .addOption(against(['project'], '--settings <file>', 'write this settings file instead'))
    .option(
      '--transport <kind>',
      'command or http, through the resident collector; default: as it is registered, else command',
    )
    .option('--force', 'allow http on a machine with several login users')
    .addOption(
      against(
        ['project'],
        '--system <user>',
        'as root: for all agents of this machine; their events are dropped into a home of that user',
      ),
    );
  handle(cli, claude, ClaudeFlags, async (context, flags) => {
    const file = settingsFile(context.config, flags);
    refuseUnsafe(flags);
    if (flags.undo) return undo(context, flags, [{ kind: 'entries', file }]);
    const system = flags.system === undefined ? null : systemSetup(context.config, flags, flags.system);
    const fresh = [dirname(file), file].filter((path) => !existsSync(path));
    if (!(await registerClaude(context, flags, file)) || !system) return;
    shareHome(context.config.home, system);
    // agents' users have to read what was made for them; what was there before stays as it was
    for (const path of fresh) chmodSync(path, path === file ? 0o644 : 0o755);
  });
  for (const setup of HARNESSES)
    handle(cli, add(setup.name, setup.title), Flags, async (context, flags) => {
      if (flags.undo) return undo(context, flags, setup.targets(context.config, process.execPath));
      await register(context, flags, setup);
    });
}

/** @returns whether it was agreed to. */
async function registerClaude(context: Context, flags: ClaudeFlags, file: string): Promise<boolean> {
  const { config } = context;
  // Shown before anything is made: with the token that is there, or a placeholder of the same shape.
  const known = readSettings(config.home);
  const transport = flags.transport ?? transportIn(file, known);
  const port = known.http?.port ?? (transport === 'http' ? await freePort() : 0);
  const target = (settings: Settings): Target => {
    const registration = registrationOf(config, transport, settings);
    const url = registration.transport === 'http' ? registration.url : null;
    return { kind: 'entries', file, hooks: hooksOf(registration, 'settings'), url };
  };
  const shown = target({ ...known, http: known.http ?? { port, token: 'made-now' } });
  if (!(await agreed(context, flags, [planInit(config.home, shown)]))) return false;
  const { settings, made } = await prepare(config, {
    ...{
      startsCollector: flags.system === undefined,
      transport,
      rotate: flags.rotate,
      oracle: remoteOracle(config, flags),
      port,
    },
  });
  finish(context, 'claude-code', [target(settings)], made, { transport }, OPENS_PORT[transport]);
  return true;
}

/** The collector reads where it listens when it starts. */
const OPENS_PORT = {
  command: undefined,
  http: 'Start flipstream up again if it runs already: only then it listens on the port, and until then events are lost.',
};

async function register(context: Context, flags: Flags, setup: HarnessSetup): Promise<void> {
  const { config } = context;
  const targets = setup.targets(config, process.execPath);
  const oracle = remoteOracle(config, flags);
  const plans = targets.map((target) => planInit(config.home, target));
  if (!(await agreed(context, flags, plans))) return;
  const { made } = await prepare(config, {
    ...{ startsCollector: true, transport: 'command', rotate: flags.rotate, oracle, port: 0 },
  });
  finish(context, setup.name, targets, made, {}, setup.after);
}

function finish(
  context: Context,
  harness: string,
  targets: readonly Target[],
  made: readonly string[],
  more: object,
  after?: string,
): void {
  const { config, out } = context;
  const plans = targets.map((target) => planInit(config.home, target));
  for (const plan of plans) apply(context, plan);
  const files = plans.map(({ file }) => file);
  const changed = plans.some(differs);
  const twice = doubles(config, harness);
  const result = { file: files[0], files, changed, made, ...more, home: config.home.root, doubles: twice };
  out.result(result, () =>
    [
      changed ? `Wrote ${files.join(', ')}.` : `${files.join(', ')} is as it should be.`,
      ...made.map((what) => `Made ${what}.`),
      ...(after === undefined ? [] : [after]),
      ...twice,
      'Next: flipstream up, unless it runs. Sessions that run already pick the hooks up when they start anew.',
    ].join('\n'),
  );
}

async function undo(context: Context, flags: Flags, targets: readonly Pick<Target, 'kind' | 'file'>[]) {
  const { home } = context.config;
  const plans = targets.map((target) => planUndo(home, target));
  const changed = plans.filter(differs);
  if (changed.length > 0 && !(await agreed(context, flags, plans))) return;
  for (const plan of plans) apply(context, plan);
  const files = plans.map(({ file }) => file);
  const removed = changed.some((plan) => plan.after === null);
  context.out.result({ file: files[0], files, changed: changed.length > 0, removed }, () =>
    changed.length > 0
      ? `Took our hooks out of ${changed.map(({ file }) => file).join(', ')}. What was recorded stays in ${home.root}.`
      : `There is nothing of ours in ${files.join(', ')}.`,
  );
}

function transportIn(file: string, { http }: Settings): Registration['transport'] {
  const handlers = handlersIn(readSettingsFile(file) ?? '');
  return http && handlers.some((handler) => urlOf(handler) === hookUrl(http.port)) ? 'http' : 'command';
}

function registrationOf(
  config: Readonly<Config>,
  transport: Registration['transport'],
  settings: Settings,
): Registration {
  const base = { node: process.execPath, hook: config.home.hook, home: config.home.root };
  if (transport === 'command' || !settings.http) return { transport: 'command', ...base };
  const { port, token } = settings.http;
  return { transport: 'http', ...base, url: hookUrl(port), token };
}

/** Where Claude Code on Linux reads what users cannot change. */
const MANAGED_SETTINGS = '/etc/claude-code/managed-settings.json';

/** A project's settings.json is shared and would carry paths of this machine: of a project it is the local file. */
function settingsFile(config: Readonly<Config>, flags: ClaudeFlags): string {
  if (flags.settings) return resolve(config.cwd, flags.settings);
  if (flags.system !== undefined) return MANAGED_SETTINGS;
  return flags.project ? join(config.cwd, '.claude', 'settings.local.json') : config.claudeSettings;
}

/** HTTP tokens live in user settings only, and on a machine with one user (oracle-design, "Where things live"). */
function refuseUnsafe(flags: ClaudeFlags): void {
  if (flags.transport !== 'http' || flags.undo) return;
  if (flags.project)
    throw new FlipstreamError(
      'http_unsafe',
      'usage',
      'A project\u2019s folder is copied about, and http needs a token in it: leave out --project, or use --transport command.',
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
    return { url: flags.oracle, token: readNamed(path).trim() };
  } catch (cause) {
    throw new FlipstreamError(
      'flag_invalid',
      'usage',
      `--oracle-token-file ${path} cannot be read: ${messageOf(cause)}.`,
      cause,
    );
  }
}
