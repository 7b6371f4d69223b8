/** Checks of the harnesses beside Claude Code: hooks there, trusted, heard of, of a release that was tested. */
import { HARNESS_CAPABILITIES } from '../../schemas/harness-capabilities.ts';
import type { Clock } from '../../schemas/time.ts';
import type { Config } from '../config.ts';
import { doubles } from '../init/doubles.ts';
import { HARNESSES, type HarnessSetup } from '../init/harnesses.ts';
import type { Target } from '../init/plan.ts';
import { codexTrust } from './codex-trust.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { ago, lastHeard } from './last-heard.ts';
import { findProgram, versionOf } from './programs.ts';
import { placesIn, type Registered } from './registered.ts';

/** Nothing is said of a harness that is neither here nor connected. */
export async function checkHarnesses(
  config: Readonly<Config>,
  env: NodeJS.ProcessEnv,
  clock: Clock,
): Promise<Finding[]> {
  const heard = lastHeard(config.home);
  const found = await Promise.all(
    HARNESSES.map((setup) => checkOne(config, env, setup, ago(heard.get(setup.name), clock))),
  );
  const twice = doubles(config).map((sentence) => {
    const [what = sentence, ...advice] = sentence.split('. ');
    return warning('registration', `${what}.`, advice.join('. '));
  });
  return [...found.flat(), ...twice];
}

/** Harnesses beside Claude Code in whose settings our hook is, as this release puts it there or an earlier one. */
export function connected(config: Readonly<Config>): string[] {
  return HARNESSES.filter(
    ({ targets }) => registered(config, targets(config, process.execPath)) !== 'no',
  ).map(({ name }) => name);
}

async function checkOne(
  config: Readonly<Config>,
  env: NodeJS.ProcessEnv,
  setup: HarnessSetup,
  last: string,
): Promise<Finding[]> {
  const { name, title } = setup;
  const program = findProgram(setup.program, env.PATH);
  const state = registered(config, setup.targets(config, process.execPath));
  if (state === 'no')
    return program ? [ok(name, `${title} is here and not connected (flipstream init ${name}).`)] : [];
  if (state === 'outdated')
    return [
      problem(
        name,
        `${title} runs a hook that is not as this release sets it up.`,
        `Run: flipstream init ${name}`,
      ),
    ];
  const version = program ? await versionOf(program, env) : null;
  const tested = HARNESS_CAPABILITIES.find(({ harness }) => harness === name)?.tested ?? null;
  const said = `${title}${version ? ` ${version}` : ''} is connected; ${last}.`;
  return [
    tested === null
      ? ok(name, `${said} Made to its documentation, tested with no release.`)
      : version === null || version === tested
        ? ok(name, `${said} Tested with ${tested}.`)
        : warning(
            name,
            `${said} Tested with ${tested}.`,
            'Watch the first sessions: flipstream session show <id>.',
          ),
    ...(name === 'codex' && program ? await checkTrust(program, env, config) : []),
  ];
}

function registered({ home }: Readonly<Config>, targets: readonly Target[]): Registered {
  const states = targets.flatMap((target) => placesIn(target, home.hook));
  if (states.every((state) => state === 'yes')) return 'yes';
  return states.every((state) => state === 'no') ? 'no' : 'outdated';
}

async function checkTrust(
  program: string,
  env: NodeJS.ProcessEnv,
  { home, cwd }: Readonly<Config>,
): Promise<Finding[]> {
  const trust = await codexTrust(program, env, cwd, home.hook);
  if (trust === null)
    return [
      warning('codex-trust', 'Codex does not say which hooks it trusts.', 'Open /hooks in codex and look.'),
    ];
  return trust.untrusted.length === 0
    ? [ok('codex-trust', `Codex trusts all ${trust.trusted} hooks of ours.`)]
    : [
        problem(
          'codex-trust',
          `Codex does not trust, and so does not run, our hooks for ${trust.untrusted.join(', ')}.`,
          'Start codex, open /hooks, and trust them.',
        ),
      ];
}
