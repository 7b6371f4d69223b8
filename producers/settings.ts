/** The user's settings in the home directory (config.json) as the agent host's programs read them. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { KafkaSettings } from '../log/kafka/settings.ts';
import { FlipstreamError, hasCode } from '../schemas/errors.ts';
import { readJsonAs } from '../schemas/read-as.ts';
import type { Home } from './home.ts';

export const Settings = z.looseObject({
  v: z.literal(1).default(1),
  /** Where Stops are graded, and the token of this agent host (oracle-client.ts). */
  oracle: z
    .looseObject({ url: z.url(), token: z.string().min(1), ca: z.string().min(1).optional() })
    .optional(),
  /** The home of an oracle on this machine, for `flipstream up` and `flipstream oracle`. */
  oracle_home: z.string().min(1).optional(),
  /** SHA-256 of the key ring that was accepted: with another one the streams do not start. */
  key_ring_sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits')
    .optional(),
  /** How hooks start a collector that is not there. */
  collector: z.looseObject({ node: z.string(), cli: z.array(z.string()) }).optional(),
  /** The loopback HTTP transport. Port 0: any free one. */
  http: z.looseObject({ port: z.number().int().min(0).max(65_535), token: z.string().min(1) }).optional(),
  /** Bytes of one content field that are kept. */
  field_limit: z.number().int().positive().optional(),
  /** Where the log is; default: a file in the home. */
  engine: z.enum(['embedded', 'kafka']).optional(),
  /** The cluster of the engine kafka. */
  kafka: KafkaSettings.partial().optional(),
  /** Milliseconds without an event after which a session counts as ended. */
  quiet_ms: z.number().int().positive().optional(),
  /** Where `flipstream up` serves metrics. */
  metrics_port: z.number().int().min(0).max(65_535).optional(),
  /** On multiples of which the oracle of `flipstream up` answers, milliseconds. */
  bucket_ms: z.number().int().positive().optional(),
});
export type Settings = z.infer<typeof Settings>;

/** 64 KiB. */
export const DEFAULT_FIELD_LIMIT = 64 * 1024;
/** One hour: longer than people think about a prompt, and a session that goes on is opened again. */
export const DEFAULT_QUIET_MS = 60 * 60_000;

/** The settings of a home, or the defaults when it has none. @throws FlipstreamError `config_invalid` (usage) */
export function readSettings(home: Home): Settings {
  const read = readJsonAs(Settings, () => readFileSync(home.config, 'utf8'));
  if (read.ok) return read.data;
  if (hasCode(read.cause, 'ENOENT')) return { v: 1 };
  const message = `${home.config} cannot be used: ${read.problem}. Correct it, or put a copy of it back. flipstream init makes a new one where it is removed, but does not know what else stood there: tokens, the place of the oracle, the cluster.`;
  throw new FlipstreamError('config_invalid', 'usage', message, read.cause);
}
