import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../package.ts';

const PLACE = 'const COMMAND = [];';

/** The text of our plugin for OpenCode (plugin/opencode/flipstream.js), with the command that runs the hook in it. */
export function openCodePlugin(command: readonly string[]): string {
  const source = readFileSync(join(packageRoot(), 'plugin', 'opencode', 'flipstream.js'), 'utf8');
  return source.replace(PLACE, () => `const COMMAND = ${JSON.stringify(command)};`);
}
