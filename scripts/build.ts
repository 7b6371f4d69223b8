/**
 * Makes dist/, what `npm pack` carries: plain JavaScript, since Node strips no types under node_modules.
 * It holds what the command reaches and nothing else. tsc follows and rewrites imports; modules that are named
 * in strings (`new URL('./x.ts', import.meta.url)`: workers, programs we start) are found, built and rewritten here.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
const CONFIG = join(ROOT, 'tsconfig.dist.tmp.json');
/** A module of ours named in a string: './x.ts', './x.js', or `./x${extname(import.meta.url)}`. */
const MODULE = /(['"`])(\.\.?\/[\w./-]+?)(?:\.ts|\.js|\$\{extname\(import\.meta\.url\)\})\1/g;
/** Any other file beside a module. */
const ASSET = /new URL\(\s*(['"`])(\.[^'"`\n$]*\.(?!ts\1|js\1)\w+)\1\s*,\s*import\.meta\.url/g;

/** Emits the modules and all that they import. */
function compile(entries: readonly string[]): void {
  const compilerOptions = { noEmit: false, noCheck: true, outDir: 'dist', rootDir: '.' };
  writeFileSync(
    CONFIG,
    JSON.stringify({ extends: './tsconfig.json', compilerOptions, include: [], files: entries }),
  );
  try {
    execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', CONFIG], {
      cwd: ROOT,
      stdio: 'inherit',
    });
  } finally {
    rmSync(CONFIG);
  }
}

/** What the built modules name by a pattern, relative to the root, as it lies in the sources. */
function named(pattern: RegExp): string[] {
  const found = globSync('**/*.js', { cwd: DIST }).flatMap((module) =>
    [...readFileSync(join(DIST, module), 'utf8').matchAll(pattern)].map(([, , path = '']) =>
      relative(ROOT, join(ROOT, dirname(module), path)),
    ),
  );
  return [...new Set(found)];
}

const isSource = (name: string) => existsSync(join(ROOT, `${name}.ts`));

rmSync(DIST, { recursive: true, force: true });
const entries = ['cli/main.ts'];
for (let known = 0; known < entries.length; ) {
  known = entries.length;
  compile(entries);
  const missing = named(MODULE).filter((name) => isSource(name) && !existsSync(join(DIST, `${name}.js`)));
  entries.push(...missing.map((name) => `${name}.ts`));
}

for (const file of named(ASSET)) {
  if (!existsSync(join(ROOT, file))) throw new Error(`build: a module names ${file}, which does not exist.`);
  mkdirSync(dirname(join(DIST, file)), { recursive: true });
  copyFileSync(join(ROOT, file), join(DIST, file));
}
for (const module of globSync('**/*.js', { cwd: DIST })) {
  const text = readFileSync(join(DIST, module), 'utf8');
  const rewritten = text.replace(MODULE, (whole, quote: string, path: string) =>
    whole.endsWith(`.ts${quote}`) && isSource(join(dirname(module), path))
      ? `${quote}${path}.js${quote}`
      : whole,
  );
  if (rewritten !== text) writeFileSync(join(DIST, module), rewritten);
}
