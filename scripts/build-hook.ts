/**
 * Makes plugin/dist/hook.cjs: the hook as one file without dependencies for Node 20 and up; `--check` compares.
 * CommonJS: our own modules behind an `import()`, and the built-in modules that only they need, are then loaded
 * when they are first used, where an ES module's imports would be loaded at every start.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OUT = fileURLToPath(new URL('../plugin/dist/hook.cjs', import.meta.url));

const { outputFiles } = await build({
  absWorkingDir: ROOT,
  entryPoints: ['producers/hook/main.ts'],
  bundle: true,
  write: false,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  minify: true,
  legalComments: 'none',
  charset: 'utf8',
  banner: { js: '// Generated from producers/hook by scripts/build-hook.ts.' },
});
const text = outputFiles[0]?.text ?? '';
for (const [, name] of text.matchAll(/\brequire\("([^"]+)"\)/g))
  if (!name?.startsWith('node:'))
    throw new Error(`build-hook: the hook would need ${name}; it may need nothing.`);

if (process.argv.includes('--check')) {
  if (!existsSync(OUT) || readFileSync(OUT, 'utf8') !== text)
    throw new Error('plugin/dist/hook.cjs is not what producers/hook makes: run npm run generate.');
} else {
  mkdirSync(dirname(OUT), { recursive: true });
  writeFileSync(OUT, text);
}
