import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where the agent host's side keeps everything (FLIPSTREAM_HOME). The oracle has a home of its own. */
export interface Home {
  root: string;
  /** home_id (the chain_id) and host_id, made once; random, so that no host name or person is in them. */
  identity: string;
  /** Key of appendix A's keyed hashes, 32 bytes. */
  hashKey: string;
  /** The user's settings: oracle address and token, transport. Mode 600. */
  config: string;
  /** Maildir of spool entries: tmp/ and new/. */
  spool: string;
  /** Reserved file, freed when the disk is full. */
  reserve: string;
  /** Preallocated count of what could not be kept. */
  losses: string;
  collectorDb: string;
  collectorSocket: string;
  /** One JSON Lines file a session; names are hashes of session ids. */
  traces: string;
  /** The embedded log. */
  log: string;
  warehouse: string;
  keyRing: string;
  /** How far the verdicts of an oracle elsewhere were fetched. */
  feed: string;
  /** Present while capture is paused. */
  paused: string;
  /** The installed hook. */
  hook: string;
}

/**
 * @param env FLIPSTREAM_HOME, else XDG_STATE_HOME, else the platform's state directory.
 */
export function homeAt(env: NodeJS.ProcessEnv): Home {
  return layout(env.FLIPSTREAM_HOME || join(stateDirectory(env), 'flipstream'));
}

function stateDirectory(env: NodeJS.ProcessEnv): string {
  if (env.XDG_STATE_HOME) return env.XDG_STATE_HOME;
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support');
  if (process.platform === 'win32') return env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local');
  return join(homedir(), '.local', 'state');
}

export function layout(root: string): Home {
  return {
    root,
    identity: join(root, 'identity.json'),
    hashKey: join(root, 'keys', 'hash.key'),
    config: join(root, 'config.json'),
    spool: join(root, 'spool'),
    reserve: join(root, 'spool', 'reserve'),
    losses: join(root, 'spool', 'losses'),
    collectorDb: join(root, 'collector.db'),
    collectorSocket: join(root, 'collector.sock'),
    traces: join(root, 'traces'),
    log: join(root, 'log'),
    warehouse: join(root, 'warehouse'),
    keyRing: join(root, 'keyring.json'),
    feed: join(root, 'verdict-feed.json'),
    paused: join(root, 'paused'),
    hook: join(root, 'hook', 'hook.cjs'),
  };
}
