/** The user's settings in the home directory (`config.json`), as far as the command writes and reads them. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { Home } from '../../producers/home.ts';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';

/** Fields of other parts are kept as they are. */
const HomeConfig = z.looseObject({
  v: z.literal(1).default(1),
  oracle: z.looseObject({ url: z.url(), token: z.string().min(1) }).optional(),
  collector: z.looseObject({ node: z.string(), cli: z.array(z.string()) }).optional(),
  http: z.looseObject({ port: z.number().int(), token: z.string().min(1) }).optional(),
});
export type HomeConfig = z.infer<typeof HomeConfig>;

/** @throws FlipstreamError `config_invalid` (usage). */
export function readHomeConfig(home: Home): HomeConfig {
  if (!existsSync(home.config)) return { v: 1 };
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(home.config, 'utf8'));
  } catch (cause) {
    throw invalid(home, messageOf(cause), cause);
  }
  const parsed = HomeConfig.safeParse(json);
  if (parsed.success) return parsed.data;
  throw invalid(home, z.prettifyError(parsed.error), parsed.error);
}

function invalid(home: Home, why: string, cause: unknown): FlipstreamError {
  return new FlipstreamError(
    'config_invalid',
    'usage',
    `${home.config} cannot be used: ${why}. Correct it, or remove it and run flipstream init.`,
    cause,
  );
}

/** Replaces the file at once, readable by its owner alone. */
export function writeHomeConfig(home: Home, config: HomeConfig): void {
  mkdirSync(dirname(home.config), { recursive: true, mode: 0o700 });
  const fresh = `${home.config}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
  renameSync(fresh, home.config);
}
