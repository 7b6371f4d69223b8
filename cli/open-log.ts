import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openEmbeddedLog } from '../log/embedded/open.ts';
import type { Log } from '../log/log.ts';
import type { Home } from '../producers/home.ts';
import { FlipstreamError } from '../schemas/errors.ts';
import type { Config } from './config.ts';
import { engineOf } from './engine.ts';
import { reviewerPaths } from './init/reviewer.ts';

/** Of the configuration, what it takes to open its log. */
export type LogPlace = Pick<Config, 'home' | 'engine'>;

export interface OpenOptions {
  /** Told of trouble that is waited out; default: it goes to stderr. */
  warn?: (message: string, error: unknown) => void;
  /** Keeps the home's own log small, now and then. */
  upkeep?: boolean;
}

/**
 * Opens the log of this installation; what must not be read by everyone is sealed to the reviewer's key before
 * it is written. @throws FlipstreamError `config_invalid` (usage), and those of the engine
 */
export async function openLog(place: LogPlace, options: OpenOptions = {}): Promise<Log> {
  const { upkeep = false, ...more } = options;
  const engine = engineOf(place);
  const seal = sealTo(reviewerPaths(place.home).recipient);
  if (engine.kind === 'embedded')
    return openEmbeddedLog({
      dir: place.home.log,
      seal,
      ...(upkeep ? {} : { maintainEveryMs: null }),
      ...more,
    });
  // Loaded only where it is used: it would double the time in which a command starts.
  const [{ openKafkaLog }, { openRegistry }] = await Promise.all([
    import('../log/kafka/open.ts'),
    import('../log/kafka/registry/registry.ts'),
  ]);
  const { registry, registry_auth: auth, ...access } = engine.kafka;
  return openKafkaLog({ ...access, registry: openRegistry({ url: registry, auth }), seal, ...more });
}

/**
 * Opens the log for one piece of work and closes it afterwards; no upkeep.
 * @throws FlipstreamError `no_log` (usage) when nothing was ever recorded here.
 */
export async function withLog<T>(place: LogPlace, work: (log: Log) => Promise<T>): Promise<T> {
  if (!hasLog(place))
    throw new FlipstreamError(
      'no_log',
      'usage',
      `There is no log in ${place.home.log}: run flipstream up first, or name another --home.`,
    );
  const log = await openLog(place);
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

/** A cluster always has one. */
export function hasLog(place: LogPlace): boolean {
  return engineOf(place).kind === 'kafka' || existsSync(embeddedFile(place.home));
}

function embeddedFile(home: Home): string {
  return join(home.log, 'log.db');
}

/**
 * @param recipientFile file with the reviewer's public key (`age1…`); without one, nothing sealed can be written.
 * @throws FlipstreamError `config_invalid` (usage): it holds something else
 */
function sealTo(recipientFile: string): ((bytes: Buffer) => Promise<Buffer>) | undefined {
  if (!existsSync(recipientFile)) return undefined;
  const recipient = readFileSync(recipientFile, 'utf8').trim();
  if (!/^age1[0-9a-z]{58,}$/.test(recipient))
    throw new FlipstreamError(
      'config_invalid',
      'usage',
      `${recipientFile} does not hold an age public key (age1…): restore it, or move it and reviewer.key away and run flipstream init again.`,
    );
  return async (bytes) => {
    // Loaded with the first record to seal: few commands ever seal one.
    const { Encrypter } = await import('age-encryption');
    const encrypter = new Encrypter();
    encrypter.addRecipient(recipient);
    return Buffer.from(await encrypter.encrypt(bytes));
  };
}
