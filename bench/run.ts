/** `npm run bench [name…]`: runs each measurement in a process of its own, one after another, under one line that names the machine. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';

const HERE = new URL('./', import.meta.url);
const wanted = process.argv.slice(2);
/** Only files directly in bench/ measure; what they share is in bench/support/. */
const scripts = readdirSync(HERE).filter(
  (file) =>
    file.endsWith('.ts') && file !== 'run.ts' && (wanted.length === 0 || wanted.includes(file.slice(0, -3))),
);

const [cpu] = cpus();
console.log(
  `machine: ${cpus().length} x ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform}, Node ${process.version}`,
);

// How fast the machine is today: the same one may be three times slower an hour later.
const starts = Array.from({ length: 21 }, () => {
  const from = performance.now();
  spawnSync(process.execPath, ['-e', '0']);
  return performance.now() - from;
}).sort((a, b) => a - b);
console.log(
  `a bare \`node -e 0\` takes ${(starts[10] ?? 0).toFixed(0)} ms here, load ${loadavg()[0]?.toFixed(1)}`,
);

let failed = 0;
for (const script of scripts) {
  console.log(`\n== ${script.slice(0, -3)}`);
  const { status } = spawnSync(process.execPath, ['--expose-gc', new URL(script, HERE).pathname], {
    stdio: 'inherit',
  });
  if (status !== 0) failed++;
}
process.exit(failed === 0 ? 0 : 1);
