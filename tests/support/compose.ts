/** docker-compose.yml as the tests look at it. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const Service = z.strictObject({
  image: z.string(),
  build: z.strictObject({ context: z.string(), dockerfile: z.string() }).optional(),
  profiles: z.array(z.enum(['dev', 'production'])).min(1),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  ports: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  depends_on: z
    .record(
      z.string(),
      z.strictObject({ condition: z.enum(['service_healthy', 'service_completed_successfully']) }),
    )
    .default({}),
  healthcheck: z
    .strictObject({
      test: z.array(z.string()),
      interval: z.string(),
      timeout: z.string(),
      retries: z.number(),
    })
    .optional(),
  networks: z.record(z.string(), z.strictObject({ aliases: z.array(z.string()).optional() })).optional(),
  network_mode: z.string().optional(),
  hostname: z.string().optional(),
  restart: z.literal('unless-stopped').optional(),
  stop_grace_period: z.string().optional(),
  init: z.boolean().optional(),
  user: z.string().optional(),
});
export type Service = z.infer<typeof Service>;

const Compose = z.looseObject({
  services: z.record(z.string(), Service),
  networks: z.record(z.string(), z.strictObject({ internal: z.boolean() })),
  volumes: z.record(z.string(), z.strictObject({})),
});

export const PROFILES = ['dev', 'production'] as const;

export const compose = Compose.parse(
  parse(readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8'), { merge: true }),
);

/** Services of a profile, by name. */
export function servicesOf(profile: (typeof PROFILES)[number]): Map<string, Service> {
  return new Map(Object.entries(compose.services).filter(([, { profiles }]) => profiles.includes(profile)));
}
