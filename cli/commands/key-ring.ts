import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { readSettings } from '../../producers/settings.ts';
import { isShared, shareHome } from '../../producers/shared-home.ts';
import { canonical } from '../../schemas/canonical.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { KeyRing } from '../../schemas/signature.ts';
import { addCommand, type Cli, type Context, handle } from '../command.ts';
import type { Config } from '../config.ts';
import { confirm } from '../init/ask.ts';
import { acceptKeyRing, keyRingHash, readKeyRing, trustedKeyRing } from '../key-ring.ts';
import { refuseFaulty } from '../verify/keys.ts';

type Key = KeyRing['keys'][number];

const Flags = z.looseObject({ yes: z.boolean().default(false) });

/** `flipstream key-ring accept`: the only way by which keys that no command of ours made come to be trusted here. */
export function addKeyRing(cli: Cli): void {
  const keyRing = cli.program.command('key-ring').description('the keys whose verdicts count in this home');
  const accept = addCommand(
    keyRing,
    'accept [file]',
    'show the keys, and trust them from now on: those in the file beside those here, or the ring that is here as it is now',
  ).option('--yes', 'accept without asking');
  handle(cli, accept, Flags, async (context, { yes }, [file]) => {
    const { config, out } = context;
    const { home } = config;
    const path = file === undefined ? home.keyRing : resolve(config.cwd, file);
    const given = readKeyRing(path);
    const before = keysBefore(config, file);
    const ring = joined(before, given);
    refuseFaulty(ring);
    const keys = ring.keys.map((key) => ({ key_id: key.key_id, ...against(before, key) }));
    out.note(
      [
        ...keys.map(({ key_id, is, says }) => `${is.padEnd(7)} ${key_id}: ${says}`),
        `SHA-256 of ${path}: ${keyRingHash(given)}. Compare it with what the oracle\u2019s operator says.`,
      ].join('\n'),
    );
    if (!yes && !(await agreedTo(context, home.keyRing))) return;
    const sha256 = acceptKeyRing(home, ring);
    // what root has made is the owner's, who is to read it
    if (isShared(home) && process.getuid?.() === 0) shareHome(home, statSync(home.root));
    out.result(
      { key_ring: home.keyRing, sha256, keys },
      () =>
        `${home.keyRing} is pinned: SHA-256 ${sha256}, ${keys.length} key(s). It counts when flipstream up starts anew.`,
    );
  });
}

/**
 * What was here before, to which a file adds: only a ring that is the accepted one may be added to. Of the ring that is
 * here itself nobody knows what it was, unless it is the accepted one still.
 */
function keysBefore({ home }: Readonly<Config>, file: string | undefined): readonly Key[] {
  if (!existsSync(home.keyRing)) return [];
  if (file !== undefined) return trustedKeyRing(home).keys;
  const ring = readKeyRing(home.keyRing);
  return readSettings(home).key_ring_sha256 === keyRingHash(ring) ? ring.keys : [];
}

/** A key of both is as the given ring has it: that may have taken it back. */
function joined(before: readonly Key[], { v, keys }: KeyRing): KeyRing {
  const given = new Set(keys.map(({ key_id }) => key_id));
  return { v, keys: [...before.filter(({ key_id }) => !given.has(key_id)), ...keys] };
}

interface Standing {
  is: 'new' | 'changed' | 'kept';
  says: string;
}

function against(before: readonly Key[], key: Key): Standing {
  const same = before.find(({ key_id }) => key_id === key.key_id);
  if (!same) return { is: 'new', says: saying(key) };
  if (canonical(same) === canonical(key)) return { is: 'kept', says: saying(key) };
  return { is: 'changed', says: `${saying(key)} (was: ${saying(same)})` };
}

/** What verdicts under a key may say, in words. */
function saying({ runners, placements, revoked_after: revoked }: Key): string {
  const may = `${runners.join(', ')} on ${placements.join(', ')}`;
  if (!revoked) return may;
  return revoked.seq < 0
    ? `${may}; taken back, nothing counts`
    : `${may}; taken back after verdict ${revoked.seq}`;
}

async function agreedTo({ out, io }: Context, path: string): Promise<boolean> {
  if (out.json || io.stdin.isTTY !== true)
    throw new FlipstreamError('not_confirmed', 'usage', `${path} was not accepted: run it again with --yes.`);
  if (await confirm(io, 'Trust these keys?')) return true;
  out.note('Nothing was changed.');
  return false;
}
