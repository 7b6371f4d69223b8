import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonical } from '../../schemas/canonical.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { sha256 } from '../../schemas/hash.ts';
import type { TaskDefinition } from './definition.ts';

export interface HiddenFile {
  /** Relative, with forward slashes. */
  path: string;
  executable: boolean;
  content: Buffer;
}

/**
 * Every hidden file under a directory, in the order of their paths.
 * @throws FlipstreamError `task_invalid` (usage) for anything that is neither file nor directory.
 */
export function readHidden(root: string, under = ''): HiddenFile[] {
  const files: HiddenFile[] = [];
  for (const name of readdirSync(join(root, under)).sort()) {
    const path = under === '' ? name : `${under}/${name}`;
    const info = lstatSync(join(root, path));
    if (info.isDirectory()) files.push(...readHidden(root, path));
    else if (info.isFile())
      files.push({ path, executable: (info.mode & 0o100) !== 0, content: readFileSync(join(root, path)) });
    else
      throw new FlipstreamError(
        'task_invalid',
        'usage',
        `hidden file ${path}: only plain files can be hidden tests`,
      );
  }
  return files;
}

/**
 * SHA-256 of the canonical task definition and the contents of its hidden files: known before any run, so that a
 * change of the tests cannot be taken for a change of the code (oracle-design, "What is signed").
 */
export function testsHash(definition: TaskDefinition, hidden: readonly HiddenFile[]): string {
  const files = hidden.map(({ path, executable, content }) => ({
    path,
    executable,
    sha256: sha256(content),
  }));
  return sha256(canonical({ definition, hidden: files }));
}
