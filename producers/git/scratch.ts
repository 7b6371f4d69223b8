import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { makeFolder } from '../../schemas/make-folder.ts';
import { readPlainFile } from './plain-file.ts';
import type { Repository } from './repository.ts';
import { type Git, runGit, splitNul } from './run.ts';

/** Settings of the repository's own config file, includes not followed; keys in git's lower-case spelling. */
export type RepositoryConfig = ReadonlyMap<string, string>;

const COPIED = ['core.autocrlf', 'core.eol', 'core.filemode', 'core.symlinks'] as const;
const HARMLESS = /^(true|false|yes|no|on|off|0|1|input|lf|crlf|native)$/i;
const PREFIX = 'flipstream-git-';
const STALE_MS = 60 * 60 * 1000;

/** Reads the repository's config file as a plain file: no includes, no other level, nothing run. */
export async function readRepositoryConfig(git: Git, repo: Repository): Promise<RepositoryConfig> {
  const file = join(repo.commonDir, 'config');
  const args = ['config', '--file', file, '--no-includes', '-z', '--list'];
  const out = await runGit(git, args, { gitDir: repo.commonDir, maxBytes: 4 * 1024 * 1024 });
  return new Map(
    splitNul(out).map((entry) => {
      const cut = entry.indexOf('\n');
      return cut < 0 ? ([entry, 'true'] as const) : ([entry.slice(0, cut), entry.slice(cut + 1)] as const);
    }),
  );
}

/**
 * Makes a git directory of our own that reads the repository's objects as alternates and has nothing else of
 * it but four harmless settings, its ignore patterns and its shallow boundary. No filter, driver, monitor,
 * hook, include, remote or attribute file of the repository is known there. Remove it with `removeScratch`.
 *
 * @param objectFormat `sha256` when the repository's ids have 64 digits
 */
export function createScratch(
  repo: Repository,
  config: RepositoryConfig,
  objectFormat: 'sha1' | 'sha256',
): string {
  sweep();
  const dir = mkdtempSync(join(tmpdir(), PREFIX));
  for (const folder of ['objects/info', 'refs/heads', 'info']) makeFolder(join(dir, folder), 0o777);
  writeFileSync(join(dir, 'HEAD'), 'ref: refs/heads/none\n');
  writeFileSync(join(dir, 'config'), configText(config, objectFormat));
  const objects = join(repo.commonDir, 'objects');
  writeFileSync(
    join(dir, 'objects', 'info', 'alternates'),
    alternates(objects).map(quoted).join(''),
    'latin1',
  );
  copyIfThere(join(repo.commonDir, 'info', 'exclude'), join(dir, 'info', 'exclude'));
  copyIfThere(join(repo.commonDir, 'shallow'), join(dir, 'shallow'));
  for (const name of readdirSync(repo.gitDir)) {
    if (/^sharedindex\.[0-9a-f]+$/.test(name)) symlinkSync(join(repo.gitDir, name), join(dir, name));
  }
  return dir;
}

export function removeScratch(dir: string): void {
  rmSync(dir, { recursive: true, force: true, maxRetries: 2 });
}

function configText(config: RepositoryConfig, objectFormat: 'sha1' | 'sha256'): string {
  const lines = [
    '[core]',
    `\trepositoryformatversion = ${objectFormat === 'sha256' ? 1 : 0}`,
    '\tbare = false',
    '\tfsmonitor = false',
    '\tuntrackedCache = false',
    '\tsplitIndex = false',
    '\thooksPath = /dev/null',
    '\tattributesFile = /dev/null',
    '\texcludesFile = /dev/null',
    '\tsafecrlf = false',
    '\tquotePath = true',
    '\tcompression = 0',
    '\tpreloadIndex = true',
  ];
  for (const key of COPIED) {
    const value = config.get(key);
    if (value !== undefined && HARMLESS.test(value)) lines.push(`\t${key.slice('core.'.length)} = ${value}`);
  }
  if (objectFormat === 'sha256') lines.push('[extensions]', '\tobjectFormat = sha256');
  return `${lines.join('\n')}\n`;
}

/** The object directory and all it borrows from. Flattened: git ignores relative alternates of an alternate. */
function alternates(objects: string, seen: string[] = []): string[] {
  if (seen.includes(objects) || seen.length > 20) return seen;
  seen.push(objects);
  const text = readPlainFile(join(objects, 'info', 'alternates'))?.toString('utf8') ?? '';
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#') || line.startsWith('"')) continue;
    alternates(isAbsolute(line) ? line : resolve(objects, line), seen);
  }
  return seen;
}

/** One line of an alternates file, C-quoted where git would misread the path. */
function quoted(path: string): string {
  const bytes = Buffer.from(path).toString('latin1');
  if (!/["\\\n#]/.test(bytes)) return `${bytes}\n`;
  const escaped = bytes.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n');
  return `"${escaped}"\n`;
}

function copyIfThere(from: string, to: string): void {
  const bytes = readPlainFile(from);
  if (bytes) writeFileSync(to, bytes);
}

/** Removes what killed processes have left: their copies of changed files should not lie about. */
function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(PREFIX)) continue;
    const dir = join(tmpdir(), name);
    try {
      if (Date.now() - statSync(dir).mtimeMs > STALE_MS) removeScratch(dir);
    } catch {
      // someone else's, or gone
    }
  }
}
