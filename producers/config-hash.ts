import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../schemas/hash.ts';
import { readPlainFile } from './git/plain-file.ts';
import type { HarnessFolders } from './harness-folders.ts';
import { isOurs, type OurHook } from './our-hook.ts';

/** What tells an agent how to behave, relative to one folder. */
interface Rules {
  files: readonly string[];
  folders: readonly string[];
}

const OF_PROJECT: Rules = {
  files: [
    'AGENTS.md',
    'AGENTS.override.md',
    'CLAUDE.md',
    'CLAUDE.local.md',
    'GEMINI.md',
    '.mcp.json',
    '.cursorrules',
    '.claude/CLAUDE.md',
    '.claude/settings.json',
    '.claude/settings.local.json',
    '.codex/config.toml',
    '.codex/hooks.json',
    '.cursor/mcp.json',
    '.cursor/hooks.json',
    '.gemini/settings.json',
    '.github/copilot-instructions.md',
    'opencode.json',
  ],
  folders: [
    '.claude/rules',
    '.claude/agents',
    '.claude/commands',
    '.claude/skills',
    '.cursor/rules',
    '.github/instructions',
  ],
};

/** A person's, by harness; `name` stands for the folder wherever it lies, so that a hash is the same on each machine. */
const OF_USER: readonly (Rules & { harness: keyof HarnessFolders; name: string })[] = [
  {
    ...{ harness: 'claude', name: '.claude' },
    files: ['CLAUDE.md', 'settings.json'],
    folders: ['rules', 'agents', 'commands', 'skills'],
  },
  {
    ...{ harness: 'codex', name: '.codex' },
    files: ['AGENTS.md', 'AGENTS.override.md', 'config.toml', 'hooks.json'],
    folders: [],
  },
  {
    ...{ harness: 'opencode', name: '.config/opencode' },
    files: ['AGENTS.md', 'opencode.json', 'opencode.jsonc'],
    folders: [],
  },
  { ...{ harness: 'gemini', name: '.gemini' }, files: ['GEMINI.md', 'settings.json'], folders: [] },
  { ...{ harness: 'cursor', name: '.cursor' }, files: ['hooks.json', 'mcp.json'], folders: [] },
  {
    ...{ harness: 'copilot', name: '.copilot' },
    files: ['copilot-instructions.md', 'mcp-config.json'],
    folders: ['hooks'],
  },
  { ...{ harness: 'openhands', name: '.openhands' }, files: ['hooks.json'], folders: [] },
];

const MAX_FILES = 1000;

/**
 * One hash of the rule files and settings that shape a session: two sessions with the same were told the same.
 * Machine independent: names are relative, and our own hook entries (which hold absolute paths) do not count.
 * Nested rule files and imports are told by the harness when it loads them (`notice` rules_loaded), not here.
 *
 * @param top root of the working tree, or the working directory where there is none
 * @param folders where the harnesses look for the person's settings; null leaves them out
 * @param ours what tells our own registration from other hooks
 * @returns SHA-256, 64 hex digits; null when there is no such file
 */
export function configHash(top: string, folders: HarnessFolders | null, ours: OurHook): string | null {
  const lines = linesOf(top, 'project', '', OF_PROJECT, ours);
  for (const { harness, name, ...rules } of folders ? OF_USER : [])
    if (folders) lines.push(...linesOf(folders[harness], 'user', `${name}/`, rules, ours));
  return lines.length === 0 ? null : sha256(lines.sort().join('\n'));
}

/** One line a file that is there: whose, its name, its hash. */
function linesOf(
  root: string,
  scope: string,
  prefix: string,
  { files, folders }: Rules,
  ours: OurHook,
): string[] {
  const names = [...files, ...folders.flatMap((folder) => below(root, folder))].slice(0, MAX_FILES);
  return names.flatMap((name) => {
    const bytes = readPlainFile(join(root, name), 1024 * 1024);
    if (!bytes) return [];
    const content = name.endsWith('.json') ? withoutOurs(bytes.toString('utf8'), ours) : bytes;
    return content === null ? [] : [JSON.stringify([scope, `${prefix}${name}`, sha256(content)])];
  });
}

function below(root: string, folder: string, depth = 0): string[] {
  if (depth > 4) return [];
  try {
    return readdirSync(join(root, folder), { withFileTypes: true })
      .flatMap((entry) => {
        const path = `${folder}/${entry.name}`;
        if (entry.isDirectory()) return below(root, path, depth + 1);
        return entry.isFile() ? [path] : [];
      })
      .sort();
  } catch {
    return [];
  }
}

/** Settings without our own hooks, keys sorted; null when nothing else is in them. */
function withoutOurs(text: string, ours: OurHook): string | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const rest = strip(value, ours);
  return rest === undefined ? null : JSON.stringify(rest);
}

/** Whom hooks are for, and the form of a file of hooks, say nothing where there is no hook. */
const SAYS_NOTHING: ReadonlySet<string> = new Set(['matcher', 'version']);

/** Drops our handlers, and what is empty after it; `undefined` when nothing is left. */
function strip(value: unknown, ours: OurHook): unknown {
  if (Array.isArray(value)) {
    const kept = value.map((item) => strip(item, ours)).filter((item) => item !== undefined);
    return kept.length === 0 && value.length > 0 ? undefined : kept;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (isOurs(value, ours)) return undefined;
  const entries = Object.entries(value)
    .map(([key, item]) => [key, strip(item, ours)] as const)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.every(([key]) => SAYS_NOTHING.has(key)) ? undefined : Object.fromEntries(entries);
}
