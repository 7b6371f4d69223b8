import { readFileSync } from 'node:fs';
import type { Home } from '../home.ts';

/** The part of the home's settings that a hook needs (producers/settings.ts, which needs zod and is not bundled). */
export interface HookSettings {
  fieldLimit: number;
  collector: { node: string; cli: string[] } | null;
  /** Port of the HTTP transport, where there is one. */
  httpPort: number | null;
}

const FIELD_LIMIT = 64 * 1024;

/** Never throws: a broken file means the defaults here, and `doctor` says so. */
export function readHookSettings(home: Home): HookSettings {
  const settings: HookSettings = { fieldLimit: FIELD_LIMIT, collector: null, httpPort: null };
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(home.config, 'utf8'));
  } catch {
    return settings;
  }
  if (typeof value !== 'object' || value === null) return settings;
  if ('field_limit' in value && typeof value.field_limit === 'number' && value.field_limit > 0)
    settings.fieldLimit = value.field_limit;
  if ('http' in value && typeof value.http === 'object' && value.http !== null) {
    const { http } = value;
    if ('port' in http && typeof http.port === 'number') settings.httpPort = http.port;
  }
  if ('collector' in value && typeof value.collector === 'object' && value.collector !== null) {
    const { collector } = value;
    if (
      'node' in collector &&
      typeof collector.node === 'string' &&
      'cli' in collector &&
      Array.isArray(collector.cli)
    ) {
      settings.collector = {
        node: collector.node,
        cli: collector.cli.filter((arg) => typeof arg === 'string'),
      };
    }
  }
  return settings;
}
