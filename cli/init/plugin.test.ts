import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { packageRoot, packageVersion } from '../package.ts';
import { pluginHooks } from './registration.ts';

const read = (file: string) => readFileSync(join(packageRoot(), file), 'utf8');

test('the plugin registers what init registers, as commands only', () => {
  expect(JSON.parse(read('plugin/hooks/hooks.json'))).toEqual(pluginHooks());
  const handlers = Object.values(pluginHooks().hooks).flatMap((groups) =>
    groups.flatMap((group) => group.hooks),
  );
  expect(new Set(handlers.map((handler) => handler.type))).toEqual(new Set(['command']));
});

test('the plugin has the version of the package', () => {
  const manifest = z
    .looseObject({ version: z.string() })
    .parse(JSON.parse(read('plugin/.claude-plugin/plugin.json')));
  expect(manifest.version).toBe(packageVersion());
});
