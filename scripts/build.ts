/**
 * Makes dist/, what `npm pack` carries: plain JavaScript, since Node strips no types under node_modules.
 * tsc rewrites the extensions of imports; those of `new URL('./x.ts', import.meta.url)` (worker modules,
 * programs we start) are rewritten here. Files beside the sources that are no TypeScript are copied.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDERS = ['schemas', 'log', 'producers', 'streams', 'consumers', 'oracle', 'warehouse', 'jobs', 'cli'];
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = join(ROOT, 'dist');
const NOT_SHIPPED = /(\.test\.tsx?$|(^|\/)(testing|fixtures|released)(\.ts|\/|$))/;
const OWN_URL = /(new URL\(\s*(['"`])\.[^'"`\n]*)\.ts\2(\s*,\s*import\.meta\.url)/g;

const all = FOLDERS.flatMap((folder) => globSync(`${folder}/**/*.*`, { cwd: ROOT })).filter(
  (file) => !NOT_SHIPPED.test(file),
);
const sources = all.filter((file) => file.endsWith('.ts'));

rmSync(DIST, { recursive: true, force: true });
const config = join(ROOT, 'tsconfig.dist.tmp.json');
writeFileSync(
  config,
  JSON.stringify({
    extends: './tsconfig.json',
    compilerOptions: { noEmit: false, noCheck: true, outDir: 'dist', rootDir: '.' },
    include: [],
    files: sources,
  }),
);
try {
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', config], {
    cwd: ROOT,
    stdio: 'inherit',
  });
} finally {
  rmSync(config);
}

for (const file of globSync('**/*.js', { cwd: DIST })) {
  const path = join(DIST, file);
  const text = readFileSync(path, 'utf8');
  const rewritten = text.replace(OWN_URL, '$1.js$2$3');
  if (rewritten !== text) writeFileSync(path, rewritten);
  for (const [, target] of rewritten.matchAll(
    /new URL\(\s*['"`](\.[^'"`\n]*\.js)['"`]\s*,\s*import\.meta\.url/g,
  ))
    if (target && !existsSync(join(dirname(path), target)))
      throw new Error(`build: dist/${file} names ${target}, which is not in dist/.`);
}
for (const file of all.filter((name) => !/\.(ts|md|avsc)$/.test(name))) {
  mkdirSync(join(DIST, dirname(file)), { recursive: true });
  copyFileSync(join(ROOT, file), join(DIST, file));
}
chmodSync(join(ROOT, 'bin/flipstream.js'), 0o755);
