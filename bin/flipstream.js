#!/usr/bin/env node
/**
 * Launcher: any Node 20 runs this file, which runs the command itself on the Node that the `node` package
 * carries, in a checkout from the TypeScript sources, in a published package from dist/. Plain JavaScript,
 * no dependencies, nothing newer than Node 20.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Oldest major version that strips types and has node:sqlite without a flag or a warning. */
const WANTED = 24;
const EXIT_USAGE = 2;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'cli', 'main.ts');
const built = join(root, 'dist', 'cli', 'main.js');
const entry = existsSync(source) ? source : built;

function carriedNode() {
  try {
    const home = dirname(createRequire(import.meta.url).resolve('node/package.json'));
    const binary = join(home, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
}

function run(binary) {
  const child = spawn(binary, ['--disable-warning=ExperimentalWarning', entry, ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  // Ctrl-C reaches the child from the terminal itself; a signal sent to this process alone is passed on.
  process.on('SIGINT', () => !process.stdin.isTTY && child.kill('SIGINT'));
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => refuse(`flipstream: Node at ${binary} does not start: ${error.message}.`));
  child.on('exit', (code, signal) =>
    process.exit(signal ? 128 + (constants.signals[signal] ?? 0) : (code ?? 1)),
  );
}

function refuse(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(EXIT_USAGE);
}

const carried = carriedNode();
if (Number(process.versions.node.split('.')[0]) >= WANTED) await import(pathToFileURL(entry).href);
else if (carried) run(carried);
else {
  refuse(
    `flipstream: this is Node ${process.versions.node} and the "node" package (Node ${WANTED}) did not install its binary: run npm rebuild node, or use Node ${WANTED} or newer.`,
  );
}
