/** `npm run bench [name…]`: runs each measurement in a process of its own, one after another, under one line that names the machine. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

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

let failed = 0;
for (const script of scripts) {
  console.log(`\n== ${script.slice(0, -3)}`);
  const { status } = spawnSync(process.execPath, ['--expose-gc', new URL(script, HERE).pathname], {
    stdio: 'inherit',
  });
  if (status !== 0) failed++;
}
process.exit(failed === 0 ? 0 : 1);
