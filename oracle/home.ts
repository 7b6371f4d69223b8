import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { FlipstreamError } from '../schemas/errors.ts';
import { makeFolder } from '../schemas/make-folder.ts';
import { parseJson } from '../schemas/parse-json.ts';
import { createFile } from './files.ts';

/** Where the oracle keeps everything (FLIPSTREAM_ORACLE_HOME): never inside the agent host's home. */
export interface OracleHome {
  root: string;
  /** oracle_host and the name of the run directories, made once; random, so that no host name is in them. */
  identity: string;
  /** The operator's, if there is one. */
  settings: string;
  keys: string;
  /** Opens what is sealed. */
  storeKey: string;
  /** The public half of every key this home ever signed with. */
  ring: string;
  /** <task_id>.task: definition, hidden files and reference, sealed. */
  store: string;
  /** One bare repository a task: its base commit and ancestors, nothing else. */
  mirrors: string;
  db: string;
  /** Held open by the running service; two services on one home would grade everything twice. */
  lock: string;
  /** Private: test output, dropped hunks, reasons, graded diffs. Never read by anything on the agent's side. */
  log: string;
}

/** @param env FLIPSTREAM_ORACLE_HOME, else `flipstream-oracle` beside the agent host's state directory. */
export function oracleHomeAt(env: NodeJS.ProcessEnv): OracleHome {
  return oracleLayout(env.FLIPSTREAM_ORACLE_HOME || join(stateDirectory(env), 'flipstream-oracle'));
}

function stateDirectory(env: NodeJS.ProcessEnv): string {
  if (env.FLIPSTREAM_HOME) return dirname(env.FLIPSTREAM_HOME);
  if (env.XDG_STATE_HOME) return env.XDG_STATE_HOME;
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support');
  if (process.platform === 'win32') return env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local');
  return join(homedir(), '.local', 'state');
}

export function oracleLayout(root: string): OracleHome {
  return {
    root,
    identity: join(root, 'identity.json'),
    settings: join(root, 'settings.json'),
    keys: join(root, 'keys'),
    storeKey: join(root, 'keys', 'store.key'),
    ring: join(root, 'keys', 'ring.json'),
    store: join(root, 'store'),
    mirrors: join(root, 'mirrors'),
    db: join(root, 'oracle.db'),
    lock: join(root, 'service.lock'),
    log: join(root, 'log'),
  };
}

const Identity = z.object({ oracle_host: z.string().min(8) });

/**
 * Makes the home if it is not there, and refuses one of which other users can open a part: hidden tests and keys
 * lie in it.
 * @returns the oracle's random host id.
 * @throws FlipstreamError `oracle_home_open` (usage) when group or others may read it.
 */
export function ensureOracleHome(home: OracleHome): string {
  if (makeFolder(home.root)) chmodSync(home.root, 0o700);
  refuseOpen(home.root);
  for (const dir of [home.keys, home.store, home.mirrors, home.log]) {
    makeFolder(dir);
    refuseOpen(dir);
  }
  for (const dir of [home.keys, home.store]) for (const name of readdirSync(dir)) refuseOpen(join(dir, name));
  if (existsSync(home.db)) refuseOpen(home.db);
  createFile(home.identity, JSON.stringify({ oracle_host: randomBytes(8).toString('hex') }));
  return Identity.parse(parseJson(readFileSync(home.identity, 'utf8'))).oracle_host;
}

/** @throws FlipstreamError `oracle_home_open` (usage) when group or others have any right on `path`. */
export function refuseOpen(path: string): void {
  if (process.platform === 'win32') return;
  const { mode } = statSync(path);
  if ((mode & 0o077) === 0) return;
  const rights = (mode & 0o777).toString(8);
  throw new FlipstreamError(
    'oracle_home_open',
    'usage',
    `${path} has mode ${rights}, so that other users can open the oracle's secrets; run: chmod go= ${path}`,
  );
}

/** Prefix of the run directories: outside the home, so that no path given to graded code points into it. */
export function runPrefix(oracleHost: string): string {
  return join(tmpdir(), `flipstream-run-${oracleHost}-`);
}
