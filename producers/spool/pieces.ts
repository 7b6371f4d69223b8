import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../schemas/make-folder.ts';
import type { Home } from '../home.ts';

/** Remembers across the hooks of one message that a private key has begun in it and not ended. */
export interface OpenKeys {
  isOpen: (messageId: string) => boolean;
  set: (messageId: string, open: boolean) => void;
}

/** One empty file a message, named by a hash. Only messages with a key in them ever make one. */
export function openKeysIn(home: Home, hash: (data: string) => string): OpenKeys {
  const folder = join(home.spool, 'open');
  const file = (messageId: string) => join(folder, hash(messageId));
  return {
    isOpen: (messageId) => existsSync(folder) && existsSync(file(messageId)),
    set: (messageId, open) => {
      try {
        if (open) {
          makeFolder(folder);
          writeFileSync(file(messageId), '', { mode: 0o600 });
        } else if (existsSync(folder)) rmSync(file(messageId), { force: true });
      } catch {
        // full disk: the next piece is then judged by its lines alone
      }
    },
  };
}
