/** What an installation needs beside the harness's settings: keys, tokens, the local oracle, and the hook itself. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { exportKeyRing } from '../../oracle/keys/ring.ts';
import { openOracle } from '../../oracle/oracle.ts';
import { createToken, revokeTokens } from '../../oracle/service/tokens.ts';
import type { Home } from '../../producers/home.ts';
import { loadHashKey, loadIdentity } from '../../producers/identity-files.ts';
import { readSettings, type Settings } from '../../producers/settings.ts';
import { prepareSpool } from '../../producers/spool/prepare.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import type { KeyRing } from '../../schemas/signature.ts';
import type { Config } from '../config.ts';
import { keyRingHash, readKeyRing, writeKeyRing } from '../key-ring.ts';
import { bundledHook, launcher } from '../package.ts';
import { writeHomeConfig } from './home-config.ts';
import { installHook } from './hook-file.ts';
import { ensureReviewer } from './reviewer.ts';

export interface PrepareOptions {
  transport: 'command' | 'http';
  /** Replace the tokens. */
  rotate: boolean;
  /** An oracle elsewhere; null: the one on this machine. */
  oracle: { url: string; token: string } | null;
  /** For the http transport, when none is written down yet. */
  port: number;
  /** Hooks may start a collector that is not there; it outlives them. */
  startsCollector: boolean;
}

/**
 * Makes what is missing and keeps what is there.
 * @returns the settings, and what was made, one phrase each.
 */
export async function prepare(
  config: Readonly<Config>,
  options: PrepareOptions,
): Promise<{ settings: Settings; made: string[] }> {
  const { home } = config;
  const made: string[] = [];
  makeFolder(home.root);
  if (installHook(home, bundledHook())) made.push(`the hook, ${home.hook}`);
  loadIdentity(home);
  loadHashKey(home);
  prepareSpool(home);
  const reviewer = await ensureReviewer(home);
  if (reviewer.made) made.push('the reviewer\u2019s key pair, for quarantined content');
  const before = readSettings(home);
  const settings: Settings = { ...before };
  const hadRing = existsSync(home.keyRing);
  if (options.startsCollector) settings.collector = { node: process.execPath, cli: [launcher()] };
  if (options.oracle) settings.oracle = options.oracle;
  else if (!before.oracle || options.rotate) settings.oracle = await localOracle(config, before, made);
  if (existsSync(config.oracleHome.root)) settings.oracle_home = config.oracleHome.root;
  if (options.transport === 'http' && (!before.http || options.rotate)) {
    settings.http = { port: before.http?.port ?? options.port, token: randomBytes(32).toString('base64url') };
    made.push('a token that can only append events');
  }
  if (!hadRing || settings.key_ring_sha256 === undefined) {
    const pin = pinOf(home);
    if (pin !== undefined) settings.key_ring_sha256 = pin;
    if (pin !== undefined && hadRing) made.push(`the pin of the key ring that was there, ${pin}`);
  }
  writeHomeConfig(home, settings);
  return { settings, made };
}

/** The oracle on this machine: its own home and key, a token for us, and its public key in our key ring. */
async function localOracle(
  config: Readonly<Config>,
  before: Settings,
  made: string[],
): Promise<{ url: string; token: string }> {
  const fresh = !existsSync(config.oracleHome.root);
  const oracle = openOracle({ home: config.oracleHome });
  try {
    if (fresh) made.push(`the oracle\u2019s home, ${config.oracleHome.root}`);
    makeKeyRing(config.home, exportKeyRing(oracle.home, oracle.runner.kind), made);
    // Budgets are kept by this name: random, so that it tells neither host nor person.
    const principal = loadIdentity(config.home).host_id;
    revokeTokens(oracle, principal);
    const token = createToken(oracle, principal);
    made.push('a token for the oracle');
    return { url: before.oracle?.url ?? `http://127.0.0.1:${await freePort()}`, token };
  } finally {
    oracle.close();
  }
}

/** A key ring that is there is the operator's word and stays. */
function makeKeyRing(home: Home, ring: KeyRing, made: string[]): void {
  if (existsSync(home.keyRing)) return;
  writeKeyRing(home, ring);
  made.push(`the key ring, ${home.keyRing}`);
}

/** Of the ring that is there; one that cannot be read is told of by `doctor` and `up`. */
function pinOf(home: Home): string | undefined {
  try {
    return keyRingHash(readKeyRing(home.keyRing));
  } catch {
    return undefined;
  }
}

/** A port that nobody listens on now; it is written down, so that hooks and services agree on it from then on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
