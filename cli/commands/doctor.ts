import { hookUrl } from '../../producers/our-hook.ts';
import { readSettings, type Settings } from '../../producers/settings.ts';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import type { Clock } from '../../schemas/time.ts';
import { addCommand, type Cli, type Context, handle, NoFlags } from '../command.ts';
import type { Config } from '../config.ts';
import { checkDocker } from '../doctor/docker.ts';
import { type Finding, problem } from '../doctor/finding.ts';
import { checkHarnesses, connected } from '../doctor/harnesses.ts';
import {
  checkHook,
  checkRegistration,
  initOf,
  isRegistered,
  nearest,
  settingsFiles,
} from '../doctor/hooks.ts';
import { checkKafka } from '../doctor/kafka.ts';
import { checkLog } from '../doctor/log.ts';
import { checkClaude, checkDisk, checkNode, checkPermissions } from '../doctor/machine.ts';
import { checkKeyRing, checkOracle, checkTask } from '../doctor/oracle.ts';
import { checkReview } from '../doctor/review.ts';
import { checkCollector, checkLastEvent, checkLosses, checkSilenced, checkSpool } from '../doctor/state.ts';
import { checkWarehouse } from '../doctor/warehouse.ts';
import { ENGINE_FLAGS, engineOf } from '../engine.ts';
import { EXIT } from '../exit.ts';
import { bundledHook } from '../package.ts';
import { withProgress } from '../progress.ts';

/** `flipstream doctor`: what is wrong with this installation, and how to mend it. */
export function addDoctor(cli: Cli): void {
  const command = addCommand(
    cli.program,
    'doctor',
    'say what is wrong with this installation and how to mend it',
  );
  for (const [flag, description] of ENGINE_FLAGS) command.option(flag, description);
  handle(cli, command, NoFlags, async (context) => {
    const findings = await withProgress(context.io.stderr, 'Looking', () => examine(context));
    const healthy = findings.every((finding) => finding.state !== 'problem');
    context.out.result({ ok: healthy, findings }, () => findings.map(describe).join('\n'));
    return healthy ? EXIT.ok : EXIT.failed;
  });
}

const SIGN: Record<Finding['state'], string> = { ok: 'ok      ', warning: 'warning ', problem: 'PROBLEM ' };

function describe({ state, check, message, mend }: Finding): string {
  return `${SIGN[state]} ${check}: ${message}${mend ? `\n          ${mend}` : ''}`;
}

/** Every check; one that fails itself is a problem of its name, and the others go on. */
async function examine({ config, io }: Context): Promise<Finding[]> {
  const { home } = config;
  const settings = settingsOrProblem(config.home);
  const url = settings.config?.http ? hookUrl(settings.config.http.port) : null;
  const files = settingsFiles(config.claudeSettings, config.cwd);
  const elsewhere = connected(config);
  const init = initOf(files, home, url) ?? `flipstream init ${elsewhere[0] ?? 'claude-code'}`;
  const checks: [string, () => Finding | Finding[] | Promise<Finding | Finding[]>][] = [
    ['node', () => checkNode(process.versions.node)],
    ['claude', () => checkClaude(io.env, home, io.clock, isRegistered(files, home, url) || !elsewhere[0])],
    ['hook', () => checkHook(home, bundledHook(), init)],
    ['registration', () => checkRegistration(files, home, url, elsewhere)],
    ['harnesses', () => checkHarnesses(config, io.env, io.clock)],
    ['silenced', () => checkSilenced(home, config.off)],
    ['collector', () => checkCollector(home)],
    ['spool', () => checkSpool(home)],
    ['losses', () => checkLosses(home)],
    ['last-event', () => checkLastEvent(home, io.clock)],
    ['oracle', () => checkOracle(settings.config?.oracle)],
    ['key-ring', () => checkKeyRing(home, config.oracleHome)],
    ['task', () => checkTask(config.cwd, io.env.PATH)],
    ['permissions', () => checkPermissions(home)],
    ['disk', () => checkDisk(nearest(home.root))],
    [
      'docker',
      () => checkDocker({ home, oracleHome: config.oracleHome, oracleUrl: settings.config?.oracle?.url }),
    ],
    ['log', () => checkEngine(config, io.clock)],
    ['warehouse', () => checkWarehouse(home)],
  ];
  const found = await Promise.all(checks.map(([name, check]) => guarded(name, check)));
  return [...settings.findings, ...found.flat()];
}

async function checkEngine(config: Config, clock: Clock): Promise<Finding[]> {
  const engine = engineOf(config);
  if (engine.kind === 'kafka') return checkKafka(config, engine.kafka, clock);
  return [...(await checkLog(config)), ...(await guarded('review', () => checkReview(config, clock)))];
}

async function guarded(
  name: string,
  check: () => Finding | Finding[] | Promise<Finding | Finding[]>,
): Promise<Finding[]> {
  try {
    return [await check()].flat();
  } catch (error) {
    if (error instanceof FlipstreamError)
      return [problem(name, error.message, `See ${error.code} in docs/reference/errors.md.`)];
    return [
      problem(
        name,
        `The check itself failed: ${messageOf(error)}.`,
        'FLIPSTREAM_DEBUG=1 shows more; please report it.',
      ),
    ];
  }
}

function settingsOrProblem(home: Context['config']['home']): {
  config: Settings | null;
  findings: Finding[];
} {
  try {
    return { config: readSettings(home), findings: [] };
  } catch (error) {
    return { config: null, findings: [problem('config', messageOf(error), 'Mend the file.')] };
  }
}
