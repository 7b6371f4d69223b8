/** The settings file on disk, and the receipt of what was put into it. */
import {
  chmodSync,
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Home } from '../../producers/home.ts';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { sha256 } from '../../schemas/hash.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import { readJsonAs } from '../../schemas/read-as.ts';
import { Receipt } from './settings.ts';

/** The file's text, or null when there is none. @throws FlipstreamError `settings_unreadable` (usage). */
export function readSettings(file: string): string | null {
  try {
    if (!existsSync(file)) return null;
    // reading a named pipe waits for whoever writes to it, and nothing could end that
    if (!statSync(file).isFile()) throw new Error('it is no plain file');
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new FlipstreamError(
      'settings_unreadable',
      'usage',
      `${file} cannot be read: ${messageOf(cause)}.`,
      cause,
    );
  }
}

/**
 * Replaces the file's text at once (written beside it, then renamed), following a symbolic link and keeping its
 * mode; `text` null removes it.
 * @param expected the text that the change was made from.
 * @throws FlipstreamError `settings_changed` (usage) when somebody wrote in between.
 */
export function writeSettings(
  file: string,
  expected: string | null,
  text: string | null,
  executable = false,
): void {
  if (readSettings(file) !== expected)
    throw new FlipstreamError(
      'settings_changed',
      'usage',
      `${file} was changed while this ran: run it again.`,
    );
  if (text === null) {
    rmSync(file, { force: true });
    return;
  }
  makeFolder(dirname(file), 0o777);
  const target = existsSync(file) ? realpathSync(file) : file;
  const mode = existsSync(target) ? statSync(target).mode & 0o777 : executable ? 0o700 : 0o600;
  const fresh = `${target}.flipstream-${process.pid}`;
  writeFileSync(fresh, text, { mode });
  chmodSync(fresh, mode);
  renameSync(fresh, target);
}

function receiptPath(home: Home, file: string): string {
  return join(home.root, 'init', `${sha256(file).slice(0, 16)}.json`);
}

/** What we put into `file`; null where no receipt of it can be read. */
export function readReceipt(home: Home, file: string): Receipt | null {
  const read = readJsonAs(Receipt, () => readFileSync(receiptPath(home, file), 'utf8'));
  return read.ok ? read.data : null;
}

export function writeReceipt(home: Home, receipt: Receipt): void {
  const path = receiptPath(home, receipt.file);
  makeFolder(dirname(path));
  writeFileSync(path, `${JSON.stringify(receipt, null, 2)}\n`, { mode: 0o600 });
}

export function dropReceipt(home: Home, file: string): void {
  rmSync(receiptPath(home, file), { force: true });
}
