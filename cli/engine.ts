/** Which log this run works with: the home's own file, or a cluster. Flags win over the environment, and it over config.json. */
import { z } from 'zod';
import { KafkaSettings } from '../log/kafka/settings.ts';
import type { Home } from '../producers/home.ts';
import { readSettings } from '../producers/settings.ts';
import { FlipstreamError } from '../schemas/errors.ts';
import { readAs } from '../schemas/read-as.ts';
import { refuseBeside } from './flags.ts';

export type Engine = { kind: 'embedded' } | { kind: 'kafka'; kafka: KafkaSettings };

/** What flags and environment say of it; `config.json` may say the rest. */
export interface GivenEngine {
  engine?: string | undefined;
  brokers?: string[] | undefined;
  registry?: string | undefined;
  registry_auth?: unknown;
  sasl?: unknown;
  tls?: boolean | undefined;
}

/** Flags of the commands that open the log. */
export const ENGINE_FLAGS = [
  ['--engine <engine>', 'where the log is: embedded (a file in the home, default) or kafka'],
  ['--brokers <list>', 'Kafka brokers, host:port separated by commas'],
  ['--registry <url>', 'address of the schema registry'],
] as const;

export const EngineFlags = z.looseObject({
  engine: z.enum(['embedded', 'kafka'], 'must be embedded or kafka').optional(),
  brokers: z.string().optional(),
  registry: z.string().optional(),
});

const Environment = z.object({
  FLIPSTREAM_ENGINE: z.string().optional(),
  FLIPSTREAM_KAFKA_BROKERS: z.string().optional(),
  FLIPSTREAM_KAFKA_TLS: z.string().optional(),
  FLIPSTREAM_KAFKA_SASL_MECHANISM: z.string().optional(),
  FLIPSTREAM_KAFKA_USERNAME: z.string().optional(),
  FLIPSTREAM_KAFKA_PASSWORD: z.string().optional(),
  FLIPSTREAM_REGISTRY: z.string().optional(),
  FLIPSTREAM_REGISTRY_USERNAME: z.string().optional(),
  FLIPSTREAM_REGISTRY_PASSWORD: z.string().optional(),
});

/**
 * What flags say, and where they are silent the environment.
 * @throws FlipstreamError `flag_invalid` (usage): flags that contradict each other
 */
export function givenEngine(env: NodeJS.ProcessEnv, flags: z.infer<typeof EngineFlags>): GivenEngine {
  if (flags.engine === 'embedded')
    refuseBeside('--engine embedded', { '--brokers': flags.brokers, '--registry': flags.registry });
  const vars = Environment.parse(env);
  const username = vars.FLIPSTREAM_KAFKA_USERNAME || undefined;
  const registryUser = vars.FLIPSTREAM_REGISTRY_USERNAME || undefined;
  return {
    engine: flags.engine ?? (vars.FLIPSTREAM_ENGINE || undefined),
    brokers: listOf(flags.brokers ?? (vars.FLIPSTREAM_KAFKA_BROKERS || undefined)),
    registry: flags.registry ?? (vars.FLIPSTREAM_REGISTRY || undefined),
    registry_auth: registryUser && {
      username: registryUser,
      password: vars.FLIPSTREAM_REGISTRY_PASSWORD ?? '',
    },
    sasl: username && {
      mechanism: vars.FLIPSTREAM_KAFKA_SASL_MECHANISM || 'scram-sha-512',
      username,
      password: vars.FLIPSTREAM_KAFKA_PASSWORD ?? '',
    },
    tls: vars.FLIPSTREAM_KAFKA_TLS ? !['0', 'false'].includes(vars.FLIPSTREAM_KAFKA_TLS) : undefined,
  };
}

function listOf(text: string | undefined): string[] | undefined {
  return text
    ?.split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** @throws FlipstreamError `config_invalid` (usage) */
export function engineOf({ home, engine: given }: { home: Home; engine: GivenEngine }): Engine {
  const { engine: name, ...fields } = given;
  const settings = readSettings(home);
  const kind = name ?? settings.engine ?? 'embedded';
  if (kind === 'embedded') return { kind };
  if (kind !== 'kafka') throw invalid(`the engine is embedded or kafka, not ${kind}`);
  const said = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const read = readAs(KafkaSettings, { ...settings.kafka, ...said });
  if (read.ok) return { kind, kafka: read.data };
  throw invalid(
    `${read.problem}. Give --brokers and --registry, or FLIPSTREAM_KAFKA_BROKERS and FLIPSTREAM_REGISTRY, or "kafka" in ${home.config}`,
    read.cause,
  );
}

function invalid(why: string, cause?: unknown): FlipstreamError {
  return new FlipstreamError('config_invalid', 'usage', `Kafka: ${why}.`, cause);
}
