import { closeSync, openSync } from 'node:fs';
import { hasCode } from './errors.ts';

/**
 * Makes an empty file that its owner alone can open, where there is none: SQLite would make its database for all to
 * read, and gives its journals the mode of the database. Errors: those of the system.
 */
export function ownFile(path: string): void {
  try {
    // one that is there is not even opened: to close it would take this process's locks off it
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  }
}
