import { readFileSync } from 'node:fs';
import { getNodeValue } from 'jsonc-parser';
import { z } from 'zod';
import { canonical } from '../../schemas/canonical.ts';
import { readTree } from '../init/json-text.ts';
import type { Target } from '../init/plan.ts';

/** `outdated`: something of ours is there, and not what this release puts there. */
export type Registered = 'yes' | 'outdated' | 'no';

const Hooks = z.looseObject({ hooks: z.record(z.string(), z.unknown()).default({}) });

/** Whether each thing that a target wants is in its file: an entry an event, or the whole. */
export function placesIn(target: Target, hook: string): Registered[] {
  const text = read(target.file);
  if (text === null || !text.includes(hook)) return ['no'];
  if (target.kind === 'whole') return [text === target.text ? 'yes' : 'outdated'];
  const hooks = hooksIn(text);
  return Object.entries(target.hooks).map(([event, entries]) => {
    const list = hooks[event];
    const there =
      Array.isArray(list) &&
      entries.every((entry) => list.some((one) => canonical(one) === canonical(entry)));
    return there ? 'yes' : 'outdated';
  });
}

function hooksIn(text: string): Record<string, unknown> {
  try {
    return Hooks.parse(getNodeValue(readTree(text))).hooks;
  } catch {
    return {};
  }
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
