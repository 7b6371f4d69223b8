import { DatabaseSync } from 'node:sqlite';
import { FlipstreamError, messageOf } from './errors.ts';
import { ownFile } from './own-file.ts';

const BUSY = 5;

/** The garbage collector would close one whose release nobody keeps. */
const held = new Set<DatabaseSync>();

/**
 * Holds a file, made where there is none, against other processes; the lock goes with the process, however that ends.
 * @returns gives it back; `busy` when somebody has it.
 * @throws FlipstreamError `lock_unusable` (usage) when it cannot be told, since the file cannot be opened or is no lock
 */
export function holdFile(path: string): (() => void) | 'busy' {
  let lock: DatabaseSync | null = null;
  try {
    ownFile(path);
    lock = new DatabaseSync(path, { timeout: 0 });
    lock.exec('pragma locking_mode = exclusive; begin exclusive');
  } catch (cause) {
    lock?.close();
    if (cause instanceof Error && 'errcode' in cause && cause.errcode === BUSY) return 'busy';
    const message = `${path} cannot be locked (${messageOf(cause)}): check the disk and who owns its folder; if it is no file of ours, move it away.`;
    throw new FlipstreamError('lock_unusable', 'usage', message, cause);
  }
  const taken = lock;
  held.add(taken);
  return () => {
    held.delete(taken);
    taken.close();
  };
}
