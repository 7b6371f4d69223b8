/** Checks of what is registered with Claude Code: our hook once, on every event, runnable, of our release. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getNodeValue } from 'jsonc-parser';
import { z } from 'zod';
import type { Home } from '../../producers/home.ts';
import { isOurs } from '../../producers/our-hook.ts';
import { OFF_HEADER } from '../../producers/silence.ts';
import { sha256 } from '../../schemas/hash.ts';
import { readTree } from '../init/json-text.ts';
import { EVENTS } from '../init/registration.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const Settings = z.looseObject({
  hooks: z
    .record(z.string(), z.array(z.looseObject({ hooks: z.array(z.unknown()).default([]) })))
    .default({}),
  enabledPlugins: z.record(z.string(), z.unknown()).default({}),
  disableAllHooks: z.boolean().optional(),
});
type Settings = z.infer<typeof Settings>;

interface SettingsFile {
  file: string;
  settings: Settings | null;
}

/** Every settings file that Claude Code reads for this user and folder. */
export function settingsFiles(userFile: string, cwd: string): SettingsFile[] {
  const files = [
    userFile,
    join(cwd, '.claude', 'settings.json'),
    join(cwd, '.claude', 'settings.local.json'),
  ];
  return [...new Set(files)]
    .filter((file) => existsSync(file))
    .map((file) => ({ file, settings: readOne(file) }));
}

function readOne(file: string): Settings | null {
  try {
    return Settings.parse(getNodeValue(readTree(readFileSync(file, 'utf8'))));
  } catch {
    return null;
  }
}

/** The installed hook is there and is the one this release carries. @param harness one that may be registered for it */
export function checkHook(home: Home, bundled: string, harness = 'claude-code'): Finding {
  const mend = `Run: flipstream init ${harness}`;
  if (!existsSync(home.hook)) return problem('hook', `There is no hook at ${home.hook}.`, mend);
  const same = existsSync(bundled) && sha256(readFileSync(bundled)) === sha256(readFileSync(home.hook));
  return same
    ? ok('hook', `The hook at ${home.hook} is of this release.`)
    : problem('hook', `The hook at ${home.hook} is not of this release.`, mend);
}

/** Whether Claude Code runs a hook of ours, by its settings or the plugin. */
export function isRegistered(files: readonly SettingsFile[], home: Home, url: string | null): boolean {
  return files.some(({ settings }) => pluginEnabled(settings) || ourHandlers(settings, home, url).length > 0);
}

/** @param elsewhere other harnesses that run our hook: then Claude Code need not */
export function checkRegistration(
  files: readonly SettingsFile[],
  home: Home,
  url: string | null,
  elsewhere: readonly string[] = [],
): Finding[] {
  const broken = files.filter(({ settings }) => settings === null).map(({ file }) => file);
  const found: Finding[] = broken.map((file) =>
    problem(
      'settings',
      `${file} is no settings file that can be read.`,
      'Mend its JSON: no hook that it registers can run.',
    ),
  );
  const off = files.filter(({ settings }) => settings?.disableAllHooks).map(({ file }) => file);
  if (off.length > 0)
    found.push(problem('settings', `${off.join(', ')} turns all hooks off.`, 'Remove disableAllHooks.'));

  const registered = files
    .map(({ file, settings }) => ({ file, handlers: ourHandlers(settings, home, url) }))
    .filter(({ handlers }) => handlers.length > 0);
  const plugin = files.some(({ settings }) => pluginEnabled(settings));
  if (registered.length === 0 && !plugin)
    return [
      ...found,
      elsewhere.length > 0
        ? ok('registration', `Registered with ${elsewhere.join(', ')}, and not with Claude Code.`)
        : problem(
            'registration',
            'No hook of ours is registered with any harness.',
            'Run: flipstream init claude-code, or with the name of another: flipstream harnesses',
          ),
    ];

  const places = [...registered.map(({ file }) => file), ...(plugin ? ['the plugin'] : [])];
  found.push(
    places.length === 1
      ? ok('registration', `Registered once, in ${places[0]}.`)
      : warning(
          'registration',
          `Registered ${places.length} times: ${places.join(', ')}. Events are recorded once, but every hook runs as often.`,
          plugin
            ? 'Keep what init wrote, whose hooks are given their whole time at a session’s end: disable the plugin in /plugin.'
            : `Keep the first: ${registered
                .slice(1)
                .map(({ file }) => `flipstream init claude-code --undo --settings ${file}`)
                .join(' and ')}`,
        ),
  );
  for (const { file, handlers } of registered) found.push(...checkHandlers(file, handlers));
  return found;
}

interface Registered {
  event: string;
  handler: unknown;
}

function ourHandlers(settings: Settings | null, home: Home, url: string | null): Registered[] {
  return Object.entries(settings?.hooks ?? {}).flatMap(([event, groups]) =>
    groups
      .flatMap((group) => group.hooks)
      .filter((handler) => isOurs(handler, { hook: home.hook, url }))
      .map((handler) => ({ event, handler })),
  );
}

function pluginEnabled(settings: Settings | null): boolean {
  return Object.entries(settings?.enabledPlugins ?? {}).some(
    ([name, on]) => name.startsWith('flipstream@') && on === true,
  );
}

const HttpHandler = z.looseObject({
  type: z.literal('http'),
  headers: z.record(z.string(), z.unknown()).default({}),
});
const CommandHandler = z.looseObject({ type: z.literal('command'), command: z.string() });

function checkHandlers(file: string, handlers: readonly Registered[]): Finding[] {
  const found: Finding[] = [];
  const missing = Object.keys(EVENTS).filter((event) => handlers.every((each) => each.event !== event));
  if (missing.length > 0)
    found.push(
      problem(
        'events',
        `${file} does not register ${missing.join(', ')}.`,
        'Run: flipstream init claude-code',
      ),
    );
  const twice = Object.keys(EVENTS).filter(
    (event) => handlers.filter((each) => each.event === event).length > 1,
  );
  if (twice.length > 0)
    found.push(
      warning(
        'registration',
        `${file} registers the hook more than once for ${twice.join(', ')}. Events are recorded once, but every hook runs as often.`,
        'Run: flipstream init claude-code',
      ),
    );
  const deaf = handlers.some(({ handler }) => {
    const parsed = HttpHandler.safeParse(handler);
    return parsed.success && !(OFF_HEADER in parsed.data.headers);
  });
  if (deaf)
    found.push(
      warning(
        'silence',
        `What ${file} sends over http does not tell of FLIPSTREAM_OFF, as an earlier release left it: it is recorded all the same.`,
        'Run: flipstream init claude-code',
      ),
    );
  const nodes = new Set(
    handlers.flatMap(({ handler }) => {
      const parsed = CommandHandler.safeParse(handler);
      return parsed.success ? [programIn(parsed.data.command)] : [];
    }),
  );
  const gone = [...nodes].filter((node) => node.includes('/') && !existsSync(node));
  if (gone.length > 0)
    found.push(
      problem(
        'hook-node',
        `${file} starts the hook with ${gone.join(', ')}, which is not there any more.`,
        'Run: flipstream init claude-code',
      ),
    );
  return found;
}

/** The first word of a command, which may be a line for a shell. */
function programIn(command: string): string {
  if (existsSync(command)) return command;
  const [, quoted, plain] = /^(?:'((?:[^']|'\\'')*)'|(\S+))/.exec(command) ?? [];
  return quoted?.replaceAll("'\\''", "'") ?? plain ?? command;
}

/** The nearest folder that exists, for asking about a place that is not made yet. */
export function nearest(path: string): string {
  let folder = path;
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}
