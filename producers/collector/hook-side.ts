import { keyedHash } from '../../schemas/hash.ts';
import { type CaptureContext, capture } from '../capture.ts';
import { readPlainFile } from '../git/plain-file.ts';
import type { Home } from '../home.ts';
import { redactText } from '../redaction/text.ts';
import { isSilenced } from '../silence.ts';
import { countLoss, readLosses, resetLosses } from '../spool/losses.ts';
import { openKeysIn } from '../spool/pieces.ts';
import { prepareSpool } from '../spool/prepare.ts';
import { putEntry } from '../spool/put.ts';
import type { Losses } from './upkeep.ts';
import type { AssembleContext } from './work.ts';

/** What the collector shares with the hook: a payload over HTTP becomes the same spool entry as one on stdin. */
export interface HookSide {
  /** Puts a payload into the spool durably. @throws when it was lost; the loss is counted */
  accept(payload: Buffer, registration: string): void;
  tooLarge(): void;
  redact: AssembleContext['redact'];
  losses: Losses;
  /** Makes the spool's folders, reserve and loss count where they are missing. */
  prepare(): void;
}

const RULES_LIMIT = 1024 * 1024;

export interface HookSideOptions {
  hashKey: Buffer;
  /** Bytes of one content field. */
  limit: number;
  capture: 'same_user' | 'separate_user';
}

export function hookSide(home: Home, options: HookSideOptions): HookSide {
  const now = () => performance.timeOrigin + performance.now();
  // for another user no file is read that this one could not read itself
  const readRules = (path: string) =>
    options.capture === 'same_user' ? (readPlainFile(path, RULES_LIMIT)?.toString('utf8') ?? null) : null;
  const hash = (data: string | Uint8Array) => keyedHash(options.hashKey, data);
  const context: Omit<CaptureContext, 'registration'> = {
    hash,
    ...{ limit: options.limit, clock: now, transport: 'http', readRules },
    openKeys: openKeysIn(home, hash),
    silenced: (cwd) => isSilenced(home, cwd),
  };
  return {
    accept(payload, registration) {
      if (isSilenced(home, null)) return;
      const entry = capture(payload, { ...context, registration });
      if (entry && putEntry(home, entry, now()) !== 'kept')
        throw new Error('the disk takes no entry; the loss is counted');
    },
    tooLarge: () => void countLoss(home),
    redact: redactText,
    losses: { read: () => readLosses(home), reset: (count) => void resetLosses(home, count) },
    prepare: () => prepareSpool(home),
  };
}
