import { homedir } from 'node:os';
import { type Home, homeAt, layout } from '../home.ts';

/** What the hook takes from its environment; the only place of it that reads one. */
export interface HookEnvironment {
  home: Home;
  /** FLIPSTREAM_OFF: neither capture nor gate. */
  off: boolean;
  /** PATH, to find git. */
  path: string | undefined;
  userHome: string | null;
  /** For a collector that is started. */
  all: NodeJS.ProcessEnv;
}

/** @param home given on the command line; it wins over the environment */
export function readEnvironment(
  home: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): HookEnvironment {
  const { FLIPSTREAM_OFF: off } = env;
  return {
    home: home ? layout(home) : homeAt(env),
    off: off !== undefined && off !== '' && off !== '0',
    path: env.PATH,
    userHome: homedir() || null,
    all: env,
  };
}
