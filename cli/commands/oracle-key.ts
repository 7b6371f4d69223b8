import { z } from 'zod';
import { lockHome } from '../../oracle/db.ts';
import { ensureOracleHome } from '../../oracle/home.ts';
import { initKey } from '../../oracle/keys/key.ts';
import { allow, exportKeyRing, revokeKey, rotateKey } from '../../oracle/keys/ring.ts';
import type { Oracle } from '../../oracle/oracle.ts';
import { uncheckTasksOf } from '../../oracle/tasks/state.ts';
import type { KeyRing } from '../../schemas/signature.ts';
import { type Cli, type Context, handle, NoFlags } from '../command.ts';
import { keyRingHash } from '../key-ring.ts';
import { addOracleCommand, withOracle } from './oracle-command.ts';

const PIN =
  'The streams trust the ring that they were given: flipstream oracle key export > ring.json, and where they run flipstream key-ring accept ring.json.';

/** `flipstream oracle key …`: what the oracle signs with. */
export function addOracleKey(cli: Cli, parent: Cli['program']): void {
  const key = parent.command('key').description('the keys that the oracle signs with');
  addInit(cli, key);
  const rotate = addOracleCommand(
    key,
    'rotate',
    'sign with a new key from now on; what the old one signed counts',
  );
  handle(cli, rotate, NoFlags, async (context) =>
    whileStopped(context, (opened) => {
      const ring = rotateKey(opened.home, opened.runner.kind);
      const fresh = ring.keys.at(-1)?.key_id ?? '';
      context.out.result(
        { key_id: fresh, before: opened.key.key_id },
        () =>
          `The oracle signs with ${fresh} now; ${opened.key.key_id} is gone, and what it signed counts. ${PIN}`,
      );
    }),
  );
  addRevoke(cli, key);
  const exported = addOracleCommand(
    key,
    'export',
    'print the key ring: every public key and what it may claim',
  );
  handle(cli, exported, NoFlags, async (context) =>
    withOracle(context, (opened) => print(context, exportKeyRing(opened.home, opened.runner.kind))),
  );
}

function addInit(cli: Cli, key: Cli['program']): void {
  const init = addOracleCommand(key, 'init', 'make the home and its key, or say anew what the key may claim')
    .option('--runner <kind>', 'process or container: what the key is for (default: process)')
    .option('--separate-host', 'agents run on other machines, so that verdicts for them may say so');
  const Flags = z.looseObject({
    runner: z.enum(['process', 'container']).default('process'),
    separateHost: z.boolean().default(false),
  });
  handle(cli, init, Flags, async (context, { runner, separateHost }) => {
    const { oracleHome } = context.config;
    ensureOracleHome(oracleHome);
    initKey(oracleHome, runner);
    const ring = allow(oracleHome, runner, separateHost ? ['same_host', 'separate_host'] : ['same_host']);
    print(context, ring);
  });
}

function addRevoke(cli: Cli, key: Cli['program']): void {
  const revoke = addOracleCommand(
    key,
    'revoke <key>',
    'take a key back: of what it signed only verdicts up to a number go on to count',
  ).requiredOption('--after <seq>', 'oracle_seq of the last verdict that is trusted, or none');
  const Flags = z.looseObject({
    after: z.union([z.literal('none').transform(() => -1), z.coerce.number().int().min(0)], {
      error: 'must be a number from 0, or none',
    }),
  });
  handle(cli, revoke, Flags, async (context, { after }, [id = '']) =>
    whileStopped(context, (opened) => {
      revokeKey(opened.home, opened.runner.kind, opened.db, id, after);
      const tasks = uncheckTasksOf(opened, id, after);
      context.out.result({ key_id: id, after, tasks }, () =>
        [
          `Of ${id}, ${after < 0 ? 'nothing' : `only verdicts 0 to ${after}`} counts. ${PIN}`,
          ...tasks.map(
            (task) => `The baseline of ${task} is gone with it: flipstream oracle task check ${task}`,
          ),
        ].join('\n'),
      );
    }),
  );
}

/** A service that runs would go on signing with the key that it has read. */
async function whileStopped(context: Context, work: (oracle: Oracle) => void): Promise<void> {
  await withOracle(context, (opened) => {
    const unlock = lockHome(opened.home);
    try {
      work(opened);
    } finally {
      unlock();
    }
  });
}

function print({ out }: Context, ring: KeyRing): void {
  out.note(`SHA-256 of this key ring: ${keyRingHash(ring)}`);
  out.result(ring, () => JSON.stringify(ring, null, 2));
}
