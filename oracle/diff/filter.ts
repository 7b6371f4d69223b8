import picomatch from 'picomatch';
import { shadowsModule } from '../tasks/shadow.ts';
import { saneName } from './names.ts';
import { parseDiff, type Section } from './parse.ts';

/** For the private log only. */
export interface Dropped {
  paths: string[];
  why: 'not_allowed' | 'denied' | 'odd_name' | 'symlink' | 'submodule' | 'file_mode' | 'shadows_module';
}

export interface PathRules {
  allowlist: readonly string[];
  denylist: readonly string[];
  shadow_names: readonly string[];
}

export type Filtered = { kept: Buffer; dropped: Dropped[] } | { unparseable: string };

const MATCH = { dot: true, nonegate: true };

/** Allowed and not denied. */
export function pathRule(rules: PathRules): (path: string) => 'not_allowed' | 'denied' | null {
  const allowed = picomatch(rules.allowlist.map(wholeDirectory), MATCH);
  const denied = picomatch(rules.denylist.flatMap(anyDepth), { ...MATCH, nocase: true });
  return (path) => {
    if (denied(path)) return 'denied';
    return allowed(path) ? null : 'not_allowed';
  };
}

/** A file's name holds at any depth; so does a directory (`tests/`), for all that is in it and for a file put in its place. */
function anyDepth(glob: string): string[] {
  const directory = glob.endsWith('/');
  const bare = directory ? glob.slice(0, -1) : glob;
  const rooted = bare.includes('/') ? bare : `**/${bare}`;
  return directory ? [rooted, `${rooted}/**`] : [rooted];
}

const wholeDirectory = (glob: string) => (glob.endsWith('/') ? `${glob}**` : glob);

/**
 * Cuts a diff down to what may be graded; whole sections go, never parts of one (chapter 5, "The source diff only").
 * @param atBase whether the base commit holds a path.
 */
export function filterDiff(diff: Buffer, rules: PathRules, atBase: (path: string) => boolean): Filtered {
  const parsed = parseDiff(diff);
  if ('unparseable' in parsed) return parsed;
  const rule = pathRule(rules);
  const dropped: Dropped[] = [];
  const kept: Section[] = [];
  for (const section of parsed.sections) {
    const why = dropReason(section, rule);
    if (why) dropped.push({ paths: shown(section), why });
    else kept.push(section);
  }
  // After the rest: whether a new module shadows another depends on the package files that stay in the diff.
  const added = new Set(
    kept
      .map((section) => section.newName)
      .filter((name) => name !== null)
      .map(utf8),
  );
  const exists = (path: string) => atBase(path) || added.has(path);
  const clean = kept.filter((section) => {
    const path = section.newName === null ? null : utf8(section.newName);
    if (path === null || atBase(path) || !shadowsModule(path, exists, rules.shadow_names)) return true;
    dropped.push({ paths: shown(section), why: 'shadows_module' });
    return false;
  });
  return { kept: Buffer.from(clean.map((section) => section.raw).join(''), 'latin1'), dropped };
}

const utf8 = (latin1: string) => Buffer.from(latin1, 'latin1').toString('utf8');

function names(section: Section): string[] {
  return [...new Set([section.oldName, section.newName].filter((name) => name !== null))];
}

const shown = (section: Section) => names(section).map(utf8);

function dropReason(section: Section, rule: ReturnType<typeof pathRule>): Dropped['why'] | null {
  if (section.modes.includes('120000')) return 'symlink';
  if (section.modes.includes('160000')) return 'submodule';
  if (section.modes.some((mode) => mode !== '100644' && mode !== '100755')) return 'file_mode';
  for (const latin1 of names(section)) {
    const name = saneName(latin1);
    if (name === null) return 'odd_name';
    const why = rule(name);
    if (why) return why;
  }
  return null;
}
