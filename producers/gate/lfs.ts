import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { TreeEntry } from '../git/base-tree.ts';
import { readPlainFile } from '../git/plain-file.ts';
import type { Repository } from '../git/repository.ts';
import { type Git, joinNul, runGit, splitNul, utf8 } from '../git/run.ts';

/**
 * Large File Storage without its program: a repository records a pointer (hash and size) where the working tree
 * has the file. Since no filter runs here, every such file would look changed; so the pointer is computed.
 */
export interface LfsFile {
  /** Byte string. */
  path: string;
  mode: string;
}

/** Which of some paths the tree's attributes put under LFS; asks git only when any attribute file names it. */
export async function lfsPaths(
  git: Git,
  repo: Repository,
  scratch: string,
  paths: readonly string[],
): Promise<Set<string>> {
  const named = paths.some((path) => {
    if (path !== '.gitattributes' && !path.endsWith('/.gitattributes')) return false;
    return readPlainFile(join(repo.top, utf8(path)))?.includes('filter=lfs') ?? false;
  });
  if (!named) return new Set();
  const run = { gitDir: scratch, workTree: repo.top, input: joinNul(paths) };
  const triples = splitNul(await runGit(git, ['check-attr', '-z', '--stdin', 'filter'], run));
  const found = new Set<string>();
  for (let i = 0; i + 2 < triples.length; i += 3) {
    if (triples[i + 2] === 'lfs') found.add(triples[i] ?? '');
  }
  return found;
}

/** Puts the pointers of files under LFS into the index of `scratch`; those equal to the base's stay as they are. */
export async function addPointers(
  git: Git,
  repo: Repository,
  scratch: string,
  files: readonly LfsFile[],
  base: ReadonlyMap<string, TreeEntry>,
): Promise<void> {
  const folder = join(scratch, 'lfs');
  mkdirSync(folder);
  const changed: LfsFile[] = [];
  for (const file of files) {
    const pointer = await pointerOf(join(repo.top, utf8(file.path)), git.signal);
    const before = base.get(file.path);
    if (before && before.mode === file.mode && before.oid === blobId(pointer, before.oid.length)) continue;
    writeFileSync(join(folder, String(changed.length)), pointer);
    changed.push(file);
  }
  if (changed.length === 0) return;
  const input = changed.map((_, i) => `${join(folder, String(i))}\n`).join('');
  const hashing = ['hash-object', '-w', '--no-filters', '--stdin-paths'];
  const oids = (await runGit(git, hashing, { gitDir: scratch, input })).toString('latin1').split('\n');
  const lines = changed.map(({ path, mode }, i) => `${mode} ${oids[i]}\t${path}\0`).join('');
  const run = { gitDir: scratch, workTree: repo.top, input: Buffer.from(lines, 'latin1') };
  await runGit(git, ['update-index', '--add', '--replace', '-z', '--index-info'], run);
}

const POINTER_START = 'version https://git-lfs';

/** The pointer of a file; a file that is one already, or is empty, is its own. */
async function pointerOf(path: string, signal: AbortSignal): Promise<Buffer> {
  const small = readPlainFile(path, 1024);
  if (small && (small.length === 0 || small.toString('latin1').startsWith(POINTER_START))) return small;
  const hash = createHash('sha256');
  let bytes = 0;
  await pipeline(
    createReadStream(path, { highWaterMark: 1024 * 1024 }),
    async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        hash.update(chunk);
        bytes += chunk.length;
      }
    },
    { signal },
  );
  return Buffer.from(
    `${POINTER_START}.github.com/spec/v1\noid sha256:${hash.digest('hex')}\nsize ${bytes}\n`,
  );
}

/** A blob's id as git counts it. @param digits 40 or 64 */
function blobId(content: Buffer, digits: number): string {
  const hash = createHash(digits === 64 ? 'sha256' : 'sha1');
  return hash.update(`blob ${content.length}\0`).update(content).digest('hex');
}
