/** The one place of the command that reads the environment. Flags win over it, and it over the defaults. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { type OracleHome, oracleHomeAt, oracleLayout } from '../oracle/home.ts';
import { type Home, homeAt, layout } from '../producers/home.ts';
import { readSettings } from '../producers/settings.ts';
import { FlipstreamError } from '../schemas/errors.ts';
import { readAs } from '../schemas/read-as.ts';

/** Flags that every command takes. */
const GlobalFlags = z.looseObject({
  home: z.string().min(1).optional(),
  oracleHome: z.string().min(1).optional(),
  json: z.boolean().default(false),
});

const Environment = z.object({
  FLIPSTREAM_OFF: z.string().optional(),
  CLAUDE_CONFIG_DIR: z.string().optional(),
  NO_COLOR: z.string().optional(),
});

export interface Config {
  home: Home;
  /** The oracle's own home; beside ours by default, never inside it. */
  oracleHome: OracleHome;
  json: boolean;
  /** Show stacks (FLIPSTREAM_DEBUG). */
  debug: boolean;
  /** FLIPSTREAM_OFF=1: hooks and gate are silent. */
  off: boolean;
  color: boolean;
  cwd: string;
  /** Claude Code's user settings: CLAUDE_CONFIG_DIR, else ~/.claude. */
  claudeSettings: string;
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
  const home = given.data.home ? layout(resolve(cwd, given.data.home)) : homeAt(env);
  const oracleHome = given.data.oracleHome
    ? oracleLayout(resolve(cwd, given.data.oracleHome))
    : oracleHomeAt({
        ...env,
        FLIPSTREAM_ORACLE_HOME: env.FLIPSTREAM_ORACLE_HOME || oracleHomeOf(home),
        ...(given.data.home ? { FLIPSTREAM_HOME: home.root } : {}),
      });
  if (`${oracleHome.root}/`.startsWith(`${home.root}/`))
    throw new FlipstreamError(
      'config_invalid',
      'usage',
      `The oracle's home ${oracleHome.root} lies inside the agent side's home ${home.root}: set FLIPSTREAM_ORACLE_HOME to a folder of its own.`,
    );
  return Object.freeze({
    home,
    oracleHome,
    json: given.data.json,
    debug: isDebug(env),
    off: truthy(vars.FLIPSTREAM_OFF),
    color: !vars.NO_COLOR,
    cwd,
    claudeSettings: join(vars.CLAUDE_CONFIG_DIR || join(homedir(), '.claude'), 'settings.json'),
  });
}

/** The oracle's home that init wrote down. A broken file is told of by whoever needs more of it. */
function oracleHomeOf(home: Home): string | undefined {
  try {
    return readSettings(home).oracle_home;
  } catch {
    return undefined;
  }
}

/** Whether FLIPSTREAM_DEBUG asks for stacks. */
export function isDebug(env: NodeJS.ProcessEnv): boolean {
  return truthy(env.FLIPSTREAM_DEBUG);
}

function truthy(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0';
}
