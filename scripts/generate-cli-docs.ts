/** Writes docs/reference/cli.md from the program; with --check, fails when the two differ. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createProgram } from '../cli/program.ts';
import { reference } from '../cli/reference.ts';

const target = fileURLToPath(new URL('../docs/reference/cli.md', import.meta.url));
const { program } = createProgram({
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: {},
  cwd: '/',
  clock: Date.now,
  signal: new AbortController().signal,
});
const text = reference(program);

if (process.argv.includes('--check')) {
  if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
    console.error(
      'docs/reference/cli.md differs from the program: run npm run generate and commit the result.',
    );
    process.exit(1);
  }
} else writeFileSync(target, text);
