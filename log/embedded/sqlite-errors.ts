import { FlipstreamError, messageOf } from '../../schemas/errors.ts';

/** What helps when the log's file is damaged. */
export const DAMAGED_ADVICE =
  'restore it from a copy, or move it away: flipstream replay fills a new home from the archive';

/** Primary result codes of SQLite (sqlite.org/rescode.html). */
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

function primaryCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error)) return null;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : null;
}

function systemCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : null;
}

/** Another connection holds the lock: worth another try. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error);
  return code === BUSY || code === LOCKED;
}

/** What SQLite said about the log's file, as an error to act on. Anything else passes through. */
export function named(error: unknown, path: string): unknown {
  const fail = (code: string, kind: 'retryable' | 'fatal', message: string) =>
    new FlipstreamError(code, kind, message, error);
  switch (primaryCode(error)) {
    case BUSY:
    case LOCKED:
      return fail(
        'log_busy',
        'retryable',
        `another process is writing to ${path} and did not finish in time`,
      );
    case FULL:
      return fail('log_full', 'retryable', `no space left to write ${path}: free some; nothing was written`);
    case IOERR:
      return fail('log_io', 'retryable', `the disk failed under ${path} (${messageOf(error)})`);
    case READONLY:
    case CANTOPEN:
      return fail('log_unopenable', 'fatal', `${path} cannot be opened for writing: check who owns it`);
    case CORRUPT:
      return fail('log_damaged', 'fatal', `${path} is damaged or was cut short: ${DAMAGED_ADVICE}`);
    case NOTADB:
      return fail(
        'log_not_ours',
        'fatal',
        `${path} is not a flipstream log: move it away or name another place`,
      );
    default:
      break;
  }
  switch (systemCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return fail('log_full', 'retryable', `no space left to write ${path}: free some; nothing was written`);
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
    case 'EISDIR':
    case 'ENOTDIR':
      return fail('log_unopenable', 'fatal', `${path} cannot be opened for writing: check what is there`);
    default:
      return error;
  }
}
