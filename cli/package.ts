import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { FlipstreamError } from '../schemas/errors.ts';

const Manifest = z.looseObject({ name: z.string(), version: z.string() });

/** The folder of our package.json: the same in a checkout (cli/) and in a published package (dist/cli/). */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder);
    if (parent === folder)
      throw new FlipstreamError(
        'package_incomplete',
        'fatal',
        `No package.json above ${import.meta.url}: install flipstream again.`,
      );
    folder = parent;
  }
  return folder;
}

/** Our version. */
export function packageVersion(): string {
  return Manifest.parse(JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'))).version;
}

/** The bundled hook that `init` copies into the home directory. */
export function bundledHook(): string {
  return join(packageRoot(), 'plugin', 'dist', 'hook.cjs');
}

/** The launcher, for programs that must start us again. */
export function launcher(): string {
  return join(packageRoot(), 'bin', 'flipstream.js');
}

/** The script that a process of ours runs: cli/main.ts in a checkout, dist/cli/main.js in a published package. */
export function mainScript(): string {
  const here = fileURLToPath(import.meta.url);
  return join(dirname(here), here.endsWith('.ts') ? 'main.ts' : 'main.js');
}
