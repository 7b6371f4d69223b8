/** Which handlers of a settings file are ours, also those that a lost receipt or a home made anew says nothing of. */
import { getNodeValue } from 'jsonc-parser';
import { z } from 'zod';
import { type Home, layout } from '../../producers/home.ts';
import { readHookSettings } from '../../producers/hook/hook-settings.ts';
import { hookUrl, isOurs, type OurHook, urlLikeOurs } from '../../producers/our-hook.ts';
import { readTree } from './json-text.ts';
import { wordsOf } from './shell-line.ts';

const File = z.looseObject({ hooks: z.record(z.string(), z.unknown()) });
const Group = z.looseObject({ hooks: z.array(z.unknown()) });

/** Every handler in a settings text, whether its harness lists handlers or groups of them; none where it cannot be read. */
export function handlersIn(text: string): unknown[] {
  try {
    const { hooks } = File.parse(getNodeValue(readTree(text)));
    return Object.values(hooks)
      .flatMap((list) => (Array.isArray(list) ? list : []))
      .flatMap((one) => Group.safeParse(one).data?.hooks ?? [one]);
  } catch {
    return [];
  }
}

const Http = z.looseObject({ url: z.string() });

/** Where a handler posts to; null for one that does not. */
export const urlOf = (handler: unknown) => Http.safeParse(handler).data?.url ?? null;

/**
 * Tells ours in one file: what `marks` names, and what posts as ours do, to whatever port (settings come back from
 * elsewhere, and homes go with the port that they knew), unless another home listens there whose hook the file runs too.
 * @param handlers all of that file
 */
export function oursAmong(
  handlers: readonly unknown[],
  home: Home,
  marks: OurHook,
): (handler: unknown) => boolean {
  const others = new Set(handlers.flatMap((handler) => urlOfOther(handler, home)));
  return (handler) => {
    if (isOurs(handler, marks)) return true;
    const url = urlLikeOurs(handler);
    return url !== null && !others.has(url);
  };
}

const Command = z.looseObject({ command: z.string(), args: z.array(z.string()).default([]) });

/** Where the home listens whose hook a command runs, if that is another one than `home` and is there. */
function urlOfOther(handler: unknown, home: Home): string[] {
  const parsed = Command.safeParse(handler);
  if (!parsed.success) return [];
  const words = [...wordsOf(parsed.data.command), ...parsed.data.args];
  const root = words[words.indexOf('--home') + 1];
  if (root === undefined || root === home.root || !words.includes(layout(root).hook)) return [];
  const { httpPort } = readHookSettings(layout(root));
  return httpPort === null ? [] : [hookUrl(httpPort)];
}
