import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const VERSION_MS = 20_000;

/** The program of that name on a PATH, or null. */
export function findProgram(name: string, path: string | undefined): string | null {
  for (const folder of (path ?? '').split(delimiter).filter((part) => part !== '')) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // the next folder may have it
    }
  }
  return null;
}

/** What a program says its version is, or null when it does not say. */
export async function versionOf(program: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: VERSION_MS, env });
    return /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? null;
  } catch {
    return null;
  }
}
