/** Fails when a file of ours is longer than 300 lines: it holds more than one idea. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const LIMIT = 300;
const GENERATED =
  /^(schemas\/generated\.ts|plugin\/dist\/|package-lock\.json|tests\/harness\/package-lock\.json)/;

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(ts|mts|js|mjs|cjs)$/.test(file) && !GENERATED.test(file) && existsSync(file));
const long = files
  .map((file) => ({ file, lines: readFileSync(file, 'utf8').split('\n').length - 1 }))
  .filter(({ lines }) => lines > LIMIT);
for (const { file, lines } of long)
  console.error(`${file}: ${lines} lines, over ${LIMIT}: split it by idea.`);
process.exit(long.length > 0 ? 1 : 0);
