import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../schemas/hash.ts';
import { readPlainFile } from './git/plain-file.ts';

/** Files of a project that tell an agent how to behave, by harness. */
const PROJECT_FILES = [
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
];
const PROJECT_FOLDERS = [
  '.claude/rules',
  '.claude/agents',
  '.claude/commands',
  '.claude/skills',
  '.cursor/rules',
  '.github/instructions',
];
const USER_FILES = [
  '.claude/CLAUDE.md',
  '.claude/settings.json',
  '.codex/AGENTS.md',
  '.codex/config.toml',
  '.gemini/GEMINI.md',
  '.gemini/settings.json',
];
const USER_FOLDERS = ['.claude/rules', '.claude/agents', '.claude/skills'];
const MAX_FILES = 1000;

/**
 * One hash of the rule files and settings that shape a session: two sessions with the same were told the same.
 * Machine independent: names are relative, and our own hook entries (which hold absolute paths) do not count.
 * Nested rule files and imports are told by the harness when it loads them (`notice` rules_loaded), not here.
 *
 * @param top root of the working tree, or the working directory where there is none
 * @param userHome the person's home directory; null leaves user-wide files out
 * @returns SHA-256, 64 hex digits; null when there is no such file
 */
export function configHash(top: string, userHome: string | null): string | null {
  const lines = collect(top, 'project', PROJECT_FILES, PROJECT_FOLDERS);
  if (userHome !== null) lines.push(...collect(userHome, 'user', USER_FILES, USER_FOLDERS));
  return lines.length === 0 ? null : sha256(lines.sort().join('\n'));
}

function collect(
  root: string,
  scope: string,
  files: readonly string[],
  folders: readonly string[],
): string[] {
  const names = [...files, ...folders.flatMap((folder) => below(root, folder))].slice(0, MAX_FILES);
  return names.flatMap((name) => {
    const bytes = readPlainFile(join(root, name), 1024 * 1024);
    if (!bytes) return [];
    const content = name.endsWith('.json') ? withoutOurs(bytes.toString('utf8')) : bytes;
    return content === null ? [] : [JSON.stringify([scope, name, sha256(content)])];
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
function withoutOurs(text: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  const rest = strip(value);
  return rest === undefined ? null : JSON.stringify(rest);
}

/** Drops handlers that name us, and what is empty after it; `undefined` when nothing is left. */
function strip(value: unknown): unknown {
  if (Array.isArray(value)) {
    const kept = value.map(strip).filter((item) => item !== undefined);
    return kept.length === 0 && value.length > 0 ? undefined : kept;
  }
  if (typeof value !== 'object' || value === null) return value;
  if ('type' in value && /flipstream/i.test(JSON.stringify(value))) return undefined;
  const entries = Object.entries(value)
    .map(([key, item]) => [key, strip(item)] as const)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const onlyMatcher = entries.length === 1 && entries[0]?.[0] === 'matcher' && Object.keys(value).length > 1;
  return entries.length === 0 || onlyMatcher ? undefined : Object.fromEntries(entries);
}
