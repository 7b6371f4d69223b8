import { join } from 'node:path';
import { readPlainFile } from '../../producers/git/plain-file.ts';
import type { Config } from '../config.ts';
import { HARNESSES } from './harnesses.ts';

/**
 * Harnesses that also run the hooks of Claude Code's settings, and how that is given up. Kept is the harness's own
 * registration: it hears of more (Cursor maps neither failed calls nor answers to Claude Code's names) and in every folder.
 */
const READ_CLAUDE: Readonly<Record<string, (theirs: readonly string[]) => string>> = {
  cursor: () =>
    'Keep Cursor’s own, which alone hears of failed calls and of answers: in Cursor’s settings turn off “Include third-party Plugins, Skills, and other configs”.',
  copilot: (theirs) =>
    `Keep Copilot’s own, which is there in every folder: ${theirs.map((file) => `flipstream init claude-code --undo --settings ${file}`).join(' and ')}, then flipstream init claude-code for Claude Code itself.`,
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
    return [`${title} also runs the hooks of ${theirs.join(', ')}: every hook runs twice. ${advice(theirs)}`];
  });
}

const inProject = (cwd: string) =>
  ['settings.json', 'settings.local.json'].map((name) => join(cwd, '.claude', name));

function hasOurs(file: string, hook: string): boolean {
  return readPlainFile(file)?.includes(hook) === true;
}
