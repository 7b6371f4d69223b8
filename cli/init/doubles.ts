import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { HARNESSES } from './harnesses.ts';

/** Harnesses that also run the hooks of Claude Code's settings, and how one of the two is given up. */
const READ_CLAUDE: Readonly<Record<string, string>> = {
  cursor:
    'Keep one: in Cursor’s settings turn off “Include third-party Plugins, Skills, and other configs”, or run flipstream init cursor --undo.',
  copilot:
    'Keep one: flipstream init claude-code --project --undo in that folder, or flipstream init copilot --undo.',
};

/**
 * One sentence for each harness that has our hook from two registrations, of its own and of Claude Code. Its events are
 * recorded once and graded once all the same.
 * @param harness only those that a registration with this one can double
 */
export function doubles(config: Pick<Config, 'home' | 'folders' | 'cwd'>, harness?: string): string[] {
  const places: Readonly<Record<string, string[]>> = {
    cursor: [join(config.folders.claude, 'settings.json'), ...inProject(config.cwd)],
    copilot: inProject(config.cwd),
  };
  return HARNESSES.flatMap(({ name, title, targets }) => {
    if (harness !== undefined && harness !== 'claude-code' && harness !== name) return [];
    const advice = READ_CLAUDE[name];
    const own = targets(config, process.execPath).map(({ file }) => file);
    const theirs = (places[name] ?? []).filter((file) => hasOurs(file, config.home.hook));
    if (advice === undefined || theirs.length === 0 || !own.some((file) => hasOurs(file, config.home.hook)))
      return [];
    return [`${title} also runs the hooks of ${theirs.join(', ')}: every hook runs twice. ${advice}`];
  });
}

const inProject = (cwd: string) =>
  ['settings.json', 'settings.local.json'].map((name) => join(cwd, '.claude', name));

function hasOurs(file: string, hook: string): boolean {
  try {
    return existsSync(file) && readFileSync(file, 'utf8').includes(hook);
  } catch {
    return false;
  }
}
