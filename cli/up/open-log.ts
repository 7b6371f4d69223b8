import { existsSync, readFileSync } from 'node:fs';
import { Encrypter } from 'age-encryption';
import type { Logger } from 'pino';
import { openEmbeddedLog } from '../../log/embedded/open.ts';
import type { Log } from '../../log/log.ts';
import type { Home } from '../../producers/home.ts';
import { messageOf } from '../../schemas/errors.ts';
import { reviewerPaths } from '../init/reviewer.ts';

/** Opens the log of a home; what must not be read by everyone is sealed to the reviewer's key before it is written. */
export async function openLog(home: Home, logger: Logger): Promise<Log> {
  return openEmbeddedLog({
    dir: home.log,
    seal: sealTo(reviewerPaths(home).recipient),
    warn: (message, error) => logger.warn({ reason: messageOf(error) }, message),
  });
}

/** @param recipientFile file with the reviewer's public key (`age1…`); without one, nothing sealed can be written. */
function sealTo(recipientFile: string): ((bytes: Buffer) => Promise<Buffer>) | undefined {
  if (!existsSync(recipientFile)) return undefined;
  const encrypter = new Encrypter();
  encrypter.addRecipient(readFileSync(recipientFile, 'utf8').trim());
  return async (bytes) => Buffer.from(await encrypter.encrypt(bytes));
}
