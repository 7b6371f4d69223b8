import { statSync } from 'node:fs';
import type { Home } from '../../producers/home.ts';
import { isShared } from '../../producers/shared-home.ts';
import { FlipstreamError } from '../../schemas/errors.ts';

/**
 * `up --system`: this process, and so each part of it, goes on as the owner of a home that was made for agents of other
 * users. What root could open is closed to it from then on.
 * @throws FlipstreamError `home_not_shared`, `system_not_root` (usage)
 */
export function becomeOwner(home: Home): void {
  if (!isShared(home)) {
    const message = `${home.root} is not made for agents of other users: run flipstream init claude-code --system <user> as root.`;
    throw new FlipstreamError('home_not_shared', 'usage', message);
  }
  const { uid, gid } = statSync(home.root);
  if (process.getuid?.() === uid) return;
  if (process.getuid?.() !== 0 || !process.setgroups || !process.setgid || !process.setuid) {
    const message = `${home.root} is user ${uid}\u2019s: run flipstream up as that user, or flipstream up --system as root.`;
    throw new FlipstreamError('system_not_root', 'usage', message);
  }
  process.setgroups([gid]);
  process.setgid(gid);
  process.setuid(uid);
  process.chdir(home.root);
}
