import { readSettings } from '../../producers/settings.ts';
import { type SystemUser, systemUser } from '../../producers/shared-home.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { Config } from '../config.ts';
import { refuseBeside } from '../flags.ts';

interface SystemFlags {
  transport?: 'command' | 'http' | undefined;
  oracle?: string | undefined;
}

/**
 * What `init --system` needs, asked before anything is made.
 * @returns the user who is to have the home.
 * @throws FlipstreamError `system_not_root`, `system_user`, `flag_invalid`, `oracle_beside` (usage)
 */
export function systemSetup(config: Readonly<Config>, flags: SystemFlags, name: string): SystemUser {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new FlipstreamError(
      'system_not_root',
      'usage',
      '--system gives a home to another user: run it as root, on Linux.',
    );
  refuseBeside('--system', { '--transport http': flags.transport === 'http' });
  const url = flags.oracle ?? readSettings(config.home).oracle?.url;
  if (url === undefined || new URL(url).hostname === '127.0.0.1')
    throw new FlipstreamError(
      'oracle_beside',
      'usage',
      'With --system the oracle runs as a third user, or elsewhere: start it with flipstream oracle serve, and name it with --oracle and --oracle-token-file.',
    );
  return systemUser(name);
}
