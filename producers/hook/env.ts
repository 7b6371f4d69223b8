import { type HarnessFolders, harnessFolders } from '../harness-folders.ts';
import { type Home, homeAt, layout } from '../home.ts';
import { saysOff } from '../silence.ts';

/** What the hook takes from its environment; the only place of it that reads one. */
export interface HookEnvironment {
  home: Home;
  /** FLIPSTREAM_OFF: neither capture nor gate. */
  off: boolean;
  /** PATH, to find git. */
  path: string | undefined;
  /** Where the harnesses look for the person's settings; null for a user who has no home directory. */
  folders: HarnessFolders | null;
  /** AI_AGENT: what the harness calls itself, with its release. */
  agent: string | undefined;
  /** The `flipstream run` that started the harness. */
  run: RunEnvironment | null;
  /** For a collector that is started. */
  all: NodeJS.ProcessEnv;
}

export interface RunEnvironment {
  id: string;
  /**
   * The session of the run's first attempt and whose it is, when this attempt is one that the harness begins anew: what
   * that harness tells is recorded there, and nothing of another that its agent starts.
   */
  session: { id: string; harness: string } | null;
}

/** @param home given on the command line; it wins over the environment */
export function readEnvironment(
  home: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): HookEnvironment {
  return {
    home: home ? layout(home) : homeAt(env),
    off: saysOff(env.FLIPSTREAM_OFF),
    path: env.PATH,
    folders: foldersIn(env),
    agent: env.AI_AGENT,
    run: runIn(env),
    all: env,
  };
}

function foldersIn(env: NodeJS.ProcessEnv): HarnessFolders | null {
  try {
    return harnessFolders(env);
  } catch {
    return null;
  }
}

function runIn({
  FLIPSTREAM_RUN: id,
  FLIPSTREAM_RUN_SESSION: session,
  FLIPSTREAM_RUN_HARNESS: harness,
}: NodeJS.ProcessEnv): RunEnvironment | null {
  // it names a file of ours
  return id && /^[\w-]{1,64}$/.test(id)
    ? { id, session: session && harness ? { id: session, harness } : null }
    : null;
}
