/** Python programs of others, which tests hold our files against: in a folder of their own, for the next run too. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from './cache-folder.ts';

const READERS = {
  /** Read Delta tables. */
  'delta-readers': {
    packages: ['deltalake==1.6.6', 'polars==2.1.0', 'pyarrow'],
    modules: 'deltalake, polars, pyarrow',
  },
  /** Validates ATIF. */
  atif: { packages: ['arize-phoenix-client==3.5.0'], modules: 'phoenix.client.helpers.atif' },
} as const;
type Name = keyof typeof READERS;

export const PYTHON_PACKAGES: readonly Name[] = ['delta-readers', 'atif'];

/** The interpreter that finds the packages, once they are installed. */
export function pythonOf(name: Name): string {
  return join(cacheFolder(), name, 'bin', 'python');
}

/** Installs what is not there. @returns why it could not, or null. */
export function ensurePython(name: Name): string | null {
  const { packages, modules } = READERS[name];
  const python = pythonOf(name);
  const have = () => existsSync(python) && spawnSync(python, ['-c', `import ${modules}`]).status === 0;
  if (have()) return null;
  const folder = join(cacheFolder(), name);
  mkdirSync(folder, { recursive: true });
  const venv = spawnSync('python3', ['-m', 'venv', folder], { encoding: 'utf8' });
  if (venv.status !== 0) return `python3 -m venv failed: ${venv.stderr ?? venv.error?.message}`;
  const pip = spawnSync(python, ['-m', 'pip', 'install', '--quiet', ...packages], { encoding: 'utf8' });
  return have() ? null : `pip install ${packages.join(' ')} failed: ${pip.stderr}`;
}
