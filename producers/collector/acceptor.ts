import { keyedHash } from '../../schemas/hash.ts';
import { type CaptureContext, capture } from '../capture.ts';
import type { SpoolEntry } from '../draft.ts';
import { readPlainFile } from '../git/plain-file.ts';
import type { Home } from '../home.ts';
import { isSilenced } from '../silence.ts';
import { countLoss } from '../spool/losses.ts';
import { openKeysIn } from '../spool/pieces.ts';
import { type Disk, putEntry, realDisk } from '../spool/put.ts';

/** The hook's work, done for payloads that come over HTTP: the same spool entry as of one on stdin. */
export interface Acceptor {
  /** Resolves when the payload is durable in the spool. Rejects when it was lost; the loss is counted. */
  accept(payload: Buffer, registration: string): Promise<void>;
  /** Counts a payload that was too large to be taken. */
  tooLarge(): void;
}

const RULES_LIMIT = 1024 * 1024;

export interface AcceptorOptions {
  home: Home;
  hashKey: Uint8Array;
  /** Bytes of one content field. */
  limit: number;
  capture: 'same_user' | 'separate_user';
}

interface Waiting {
  payload: Buffer;
  registration: string;
  /** Time of capture. */
  ms: number;
  settle: (error: Error | null) => void;
}

/** Payloads that arrive together share one sync of the spool's directory. */
export function createAcceptor(options: AcceptorOptions): Acceptor {
  const { home, limit, capture: how } = options;
  const now = () => performance.timeOrigin + performance.now();
  const hash = (data: string | Uint8Array) => keyedHash(options.hashKey, data);
  // for another user no file is read that this one could not read itself
  const readRules = (path: string) =>
    how === 'same_user' ? (readPlainFile(path, RULES_LIMIT)?.toString('utf8') ?? null) : null;
  const context: Omit<CaptureContext, 'registration' | 'clock'> = {
    ...{ hash, limit, transport: 'http', readRules, openKeys: openKeysIn(home, hash) },
    silenced: (source) => isSilenced(home, source),
  };
  let queue: Waiting[] = [];

  function put({ payload, registration, ms }: Waiting, disk: Disk): void {
    let entry: SpoolEntry | null;
    try {
      if (isSilenced(home, null)) return;
      entry = capture(payload, { ...context, registration, clock: () => ms });
    } catch (error) {
      countLoss(home);
      throw error;
    }
    if (entry && putEntry(home, entry, ms, disk) !== 'kept')
      throw new Error('the disk takes no entry; the loss is counted');
  }

  function flush(): void {
    const group = queue;
    queue = [];
    const unsynced = new Set<string>();
    const disk: Disk =
      group.length === 1 ? realDisk : { ...realDisk, syncDirectory: (path) => void unsynced.add(path) };
    const failed = group.map((one) => errorOf(() => put(one, disk)));
    const unsafe = errorOf(() => {
      for (const path of unsynced) realDisk.syncDirectory(path);
    });
    for (const [index, one] of group.entries()) one.settle(failed[index] ?? unsafe);
  }

  return {
    accept: (payload, registration) =>
      new Promise((resolve, reject) => {
        const settle = (error: Error | null) => (error ? reject(error) : resolve());
        if (queue.push({ payload, registration, ms: now(), settle }) === 1) setImmediate(flush);
      }),
    tooLarge: () => void countLoss(home),
  };
}

function errorOf(work: () => void): Error | null {
  try {
    work();
    return null;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
