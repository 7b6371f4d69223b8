/** Checks of what is registered with Claude Code: our hook once, on every event, runnable, of our release. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getNodeValue } from 'jsonc-parser';
import { z } from 'zod';
import { readPlainFile } from '../../producers/git/plain-file.ts';
import type { Home } from '../../producers/home.ts';
import { OFF_HEADER } from '../../producers/silence.ts';
import { sha256 } from '../../schemas/hash.ts';
import { readTree } from '../init/json-text.ts';
import { oursAmong, urlOf } from '../init/ours.ts';
import { EVENTS, OFF_VARIABLE } from '../init/registration.ts';
import { shellLine, wordsOf } from '../init/shell-line.ts';
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
  /** The command that registers in this file. */
  init: string;
}

/** Every settings file that Claude Code reads for this user and folder. */
export function settingsFiles(userFile: string, cwd: string): SettingsFile[] {
  const shared = join(cwd, '.claude', 'settings.json');
  const local = join(cwd, '.claude', 'settings.local.json');
  const inits = new Map([
    [local, ['--project']],
    [shared, ['--settings', shared]],
    [userFile, []],
  ]);
  return [...new Set([userFile, shared, local])]
    .filter((file) => existsSync(file))
    .map((file) => ({
      file,
      settings: readOne(file),
      init: shellLine(['flipstream', 'init', 'claude-code', ...(inits.get(file) ?? [])]),
    }));
}

function readOne(file: string): Settings | null {
  try {
    // a project's may come from others: a named pipe in its place must not be waited for
    const text = readPlainFile(file)?.toString('utf8') ?? '';
    return Settings.parse(getNodeValue(readTree(text)));
  } catch {
    return null;
  }
}

/** The installed hook is there and is the one this release carries. @param init the command that installs it */
export function checkHook(home: Home, bundled: string, init: string): Finding {
  const mend = `Run: ${init}`;
  if (!existsSync(home.hook)) return problem('hook', `There is no hook at ${home.hook}.`, mend);
  const same = existsSync(bundled) && sha256(readFileSync(bundled)) === sha256(readFileSync(home.hook));
  return same
    ? ok('hook', `The hook at ${home.hook} is of this release.`)
    : problem('hook', `The hook at ${home.hook} is not of this release.`, mend);
}

/** The command that renews the first registration of ours with Claude Code; null without one in its settings. */
export function initOf(files: readonly SettingsFile[], home: Home, url: string | null): string | null {
  return files.find(({ settings }) => ourHandlers(settings, home, url).length > 0)?.init ?? null;
}

/** Whether Claude Code runs a hook of ours, by its settings or the plugin. */
export function isRegistered(files: readonly SettingsFile[], home: Home, url: string | null): boolean {
  return initOf(files, home, url) !== null || files.some(({ settings }) => pluginEnabled(settings));
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
    .map(({ file, settings, init }) => ({ file, init, handlers: ourHandlers(settings, home, url) }))
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
                .map(({ file }) =>
                  shellLine(['flipstream', 'init', 'claude-code', '--undo', '--settings', file]),
                )
                .join(' and ')}`,
        ),
  );
  for (const each of registered) found.push(...checkHandlers(each, url));
  return found;
}

interface Registered {
  event: string;
  handler: unknown;
}

interface Ours extends Pick<SettingsFile, 'file' | 'init'> {
  handlers: readonly Registered[];
}

function ourHandlers(settings: Settings | null, home: Home, url: string | null): Registered[] {
  const all = Object.entries(settings?.hooks ?? {}).flatMap(([event, groups]) =>
    groups.flatMap(({ hooks }) => hooks.map((handler) => ({ event, handler }))),
  );
  const ours = oursAmong(
    all.map(({ handler }) => handler),
    home,
    { hook: home.hook, url },
  );
  return all.filter(({ handler }) => ours(handler));
}

function pluginEnabled(settings: Settings | null): boolean {
  return Object.entries(settings?.enabledPlugins ?? {}).some(
    ([name, on]) => name.startsWith('flipstream@') && on === true,
  );
}

/** That sends FLIPSTREAM_OFF: Claude Code puts in only variables that are allowed. */
const TellsOff = z.looseObject({
  headers: z.looseObject({ [OFF_HEADER]: z.literal(`$${OFF_VARIABLE}`) }),
  allowedEnvVars: z.array(z.unknown()).refine((names) => names.includes(OFF_VARIABLE)),
});
const CommandHandler = z.looseObject({ type: z.literal('command'), command: z.string() });

/** What is wrong with the handlers of ours in one file; init, told of that file, puts all of it right. */
function checkHandlers({ file, init, handlers }: Ours, url: string | null): Finding[] {
  const mend = `Run: ${init}`;
  const found: Finding[] = [];
  const times = (event: string) => handlers.filter((each) => each.event === event).length;
  const missing = Object.keys(EVENTS).filter((event) => times(event) === 0);
  if (missing.length > 0)
    found.push(problem('events', `${file} does not register ${missing.join(', ')}.`, mend));
  const twice = Object.keys(EVENTS).filter((event) => times(event) > 1);
  if (twice.length > 0)
    found.push(
      warning(
        'registration',
        `${file} registers the hook more than once for ${twice.join(', ')}. Events are recorded once, but every hook runs as often.`,
        mend,
      ),
    );
  const http = handlers.map(({ handler }) => handler).filter((handler) => urlOf(handler) !== null);
  const astray = new Set(http.map(urlOf).filter((to) => to !== url));
  if (astray.size > 0)
    found.push(
      problem(
        'http-port',
        `${file} sends events to ${[...astray].join(', ')}, where this home does not listen: they are lost.`,
        mend,
      ),
    );
  if (!http.every((handler) => TellsOff.safeParse(handler).success))
    found.push(
      warning(
        'silence',
        `What ${file} sends over http does not tell of FLIPSTREAM_OFF, as an earlier release left it or it was changed since: it is recorded all the same.`,
        mend,
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
        mend,
      ),
    );
  return found;
}

/** The first word of a command, which may be a line for a shell. */
function programIn(command: string): string {
  if (existsSync(command)) return command;
  return wordsOf(command)[0] ?? command;
}

/** The nearest folder that exists, for asking about a place that is not made yet. */
export function nearest(path: string): string {
  let folder = path;
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}
