/** What `up` is given beside the engine: by flags, where they are silent by the environment, and then by config.json. */
import { z } from 'zod';
import type { Home } from '../../producers/home.ts';
import { readSettings } from '../../producers/settings.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { readAs } from '../../schemas/read-as.ts';
import { Milliseconds, Port } from '../flags.ts';

export interface UpSettings {
  metricsPort?: number | undefined;
  bucketMs?: number | undefined;
}

const NAMES = { FLIPSTREAM_METRICS_PORT: 'metricsPort', FLIPSTREAM_BUCKET_MS: 'bucketMs' } as const;

const Environment = z.object({
  FLIPSTREAM_METRICS_PORT: Port.optional(),
  FLIPSTREAM_BUCKET_MS: Milliseconds.optional(),
});

/**
 * @param home where all parts run together: one that runs alone is told by its own flags and environment.
 * @throws FlipstreamError `config_invalid` (usage)
 */
export function upSettings(flags: UpSettings, env: NodeJS.ProcessEnv, home: Home | null): UpSettings {
  const given = Object.fromEntries(Object.keys(NAMES).map((name) => [name, env[name] || undefined]));
  const read = readAs(Environment, given);
  if (!read.ok)
    throw new FlipstreamError('config_invalid', 'usage', `The environment: ${read.problem}.`, read.cause);
  const { metrics_port, bucket_ms } = home ? readSettings(home) : {};
  return {
    metricsPort: flags.metricsPort ?? read.data.FLIPSTREAM_METRICS_PORT ?? metrics_port,
    bucketMs: flags.bucketMs ?? read.data.FLIPSTREAM_BUCKET_MS ?? bucket_ms,
  };
}

/** The environment of one part of several: what was said of all of them is no part's own. */
export function partEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !(name in NAMES)));
}
