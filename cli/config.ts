/** The one place of the command that reads the environment. Flags win over it, and it over the defaults. */
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { type OracleHome, oracleHomeAt, oracleLayout } from '../oracle/home.ts';
import { type HarnessFolders, harnessFolders } from '../producers/harness-folders.ts';
import { type Home, homeAt, layout } from '../producers/home.ts';
import { readSettings } from '../producers/settings.ts';
import { FlipstreamError } from '../schemas/errors.ts';
import { readAs } from '../schemas/read-as.ts';
import { EngineFlags, type GivenEngine, givenEngine } from './engine.ts';

/** Flags that every command takes. */
const GlobalFlags = EngineFlags.extend({
  home: z.string().min(1).optional(),
  oracleHome: z.string().min(1).optional(),
  json: z.boolean().default(false),
});

const Environment = z.object({
  FLIPSTREAM_OFF: z.string().optional(),
  NO_COLOR: z.string().optional(),
});

export interface Config {
  home: Home;
  /**
   * The oracle's own home; beside ours by default, never inside it. Looked up when it is asked for, so that what
   * needs no oracle works where config.json is damaged. @throws FlipstreamError `config_invalid` (usage)
   */
  readonly oracleHome: OracleHome;
  json: boolean;
  /** Show stacks (FLIPSTREAM_DEBUG). */
  debug: boolean;
  /** FLIPSTREAM_OFF=1: hooks and gate are silent. */
  off: boolean;
  color: boolean;
  cwd: string;
  /** Which log, as far as flags and environment say; `engineOf` tells the whole. */
  engine: GivenEngine;
  /** Claude Code's user settings: CLAUDE_CONFIG_DIR, else ~/.claude. */
  claudeSettings: string;
  folders: HarnessFolders;
}

/**
 * What this run of the command works with, frozen.
 * @throws FlipstreamError `config_invalid` (usage).
 */
export function loadConfig(env: NodeJS.ProcessEnv, flags: unknown, cwd: string): Readonly<Config> {
  const given = readAs(GlobalFlags, flags);
  if (!given.ok)
    throw new FlipstreamError('config_invalid', 'usage', `Flags: ${given.problem}.`, given.cause);
  const vars = Environment.parse(env);
  const folders = harnessFolders(env);
  const home = given.data.home ? layout(resolve(cwd, given.data.home)) : homeAt(env);
  return Object.freeze({
    home,
    get oracleHome() {
      return oracleHomeOf(home, env, given.data, cwd);
    },
    json: given.data.json,
    debug: isDebug(env),
    off: truthy(vars.FLIPSTREAM_OFF),
    color: !vars.NO_COLOR,
    cwd,
    engine: givenEngine(env, given.data),
    claudeSettings: join(folders.claude, 'settings.json'),
    folders,
  });
}

/** By flag, by environment, as init wrote it down, or beside ours. */
function oracleHomeOf(
  home: Home,
  env: NodeJS.ProcessEnv,
  flags: z.infer<typeof GlobalFlags>,
  cwd: string,
): OracleHome {
  const oracleHome = flags.oracleHome
    ? oracleLayout(resolve(cwd, flags.oracleHome))
    : oracleHomeAt({
        ...env,
        FLIPSTREAM_ORACLE_HOME: env.FLIPSTREAM_ORACLE_HOME || readSettings(home).oracle_home,
        ...(flags.home ? { FLIPSTREAM_HOME: home.root } : {}),
      });
  if (!`${oracleHome.root}/`.startsWith(`${home.root}/`)) return oracleHome;
  const message = `The oracle's home ${oracleHome.root} lies inside the agent side's home ${home.root}: set FLIPSTREAM_ORACLE_HOME to a folder of its own.`;
  throw new FlipstreamError('config_invalid', 'usage', message);
}

/** Whether FLIPSTREAM_DEBUG asks for stacks. */
export function isDebug(env: NodeJS.ProcessEnv): boolean {
  return truthy(env.FLIPSTREAM_DEBUG);
}

function truthy(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0';
}
