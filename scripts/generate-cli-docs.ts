/** Writes docs/reference/cli.md from the program and harnesses.md from the table of what they tell; with --check, fails when they differ. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createProgram } from '../cli/program.ts';
import { reference } from '../cli/reference.ts';
import { harnessPage } from './harness-page.ts';

const { program } = await createProgram({
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: {},
  cwd: '/',
  clock: Date.now,
  signal: new AbortController().signal,
});
const pages = { cli: reference(program), harnesses: harnessPage() };

for (const [name, text] of Object.entries(pages)) {
  const target = fileURLToPath(new URL(`../docs/reference/${name}.md`, import.meta.url));
  if (!process.argv.includes('--check')) writeFileSync(target, text);
  else if (!existsSync(target) || readFileSync(target, 'utf8') !== text) {
    console.error(`docs/reference/${name}.md is not up to date: run npm run generate and commit the result.`);
    process.exitCode = 1;
  }
}
