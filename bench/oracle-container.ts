/**
 * What a grade in containers costs beside two bare `docker run`s of the same commands on the same checkout, and where
 * the rest goes; grades a minute; memory of the service over many grades; what is left in the engine.
 * `BENCH_GRADES` (500) says how many. Buckets are off.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outcomeOf } from '../oracle/runner/outcome.ts';
import { git, learnIds, makeTask, ORACLE_HOST, writeFiles } from '../tests/support/container-task.ts';
import { docker } from '../tests/support/docker-engine.ts';
import { ensureImage, testImage } from '../tests/support/docker-image.ts';
import { fixPython, PYTEST } from '../tests/support/tasks-in-containers.ts';

const why = await ensureImage();
if (why) throw new Error(why);
const image = (await testImage()) ?? '';
const grades = Number(process.env.BENCH_GRADES ?? 500);
const task = await makeTask(PYTEST);
await learnIds(task, task.diffOf(fixPython()));
const dir = mkdtempSync(join(tmpdir(), 'flipstream-bench-container-'));

/** The tree as it is graded, to be mounted. */
const tree = join(dir, 'tree');
mkdirSync(tree);
git(dir, 'clone', '--quiet', task.source, tree);
writeFiles(tree, fixPython());
writeFileSync(join(tree, 'tests', 'test_hidden.py'), PYTEST.hidden['tests/test_hidden.py'] ?? '');

const median = (values: number[]) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const ms = (value: number) => `${Math.round(value)} ms`;

/** Its own time, for hidden tests that hold a canary: pytest ends with 1. */
function bare(target: string): void {
  const boundary = [
    '--rm',
    '--network',
    'none',
    '--read-only',
    '--tmpfs',
    '/tmp',
    '--cap-drop',
    'ALL',
    '--cpus',
    '1',
  ];
  const mount = ['--volume', `${tree}:/repo:ro`, '--workdir', '/repo', '--env', 'PYTHONDONTWRITEBYTECODE=1'];
  const argv = ['run', ...boundary, '--user', '64100:64100', ...mount, image];
  const { status, stderr } = spawnSync('docker', [
    ...argv,
    'python3',
    '-m',
    'pytest',
    '-p',
    'no:cacheprovider',
    target,
  ]);
  if (status !== 0 && status !== 1) throw new Error(stderr.toString());
}

let serial = 0;
async function graded(): Promise<{ tests: number }> {
  const result = await task.run(task.diffOf(fixPython(`# ${serial++}\n`)));
  const { code, reason } = outcomeOf(result);
  if (code !== 'PASS') throw new Error(reason);
  return {
    tests: [result.suite, ...result.hidden].reduce((sum, phase) => sum + (phase?.duration_ms ?? 0), 0),
  };
}

async function timed<T>(work: () => T | Promise<T>): Promise<{ ms: number; value: T }> {
  const started = performance.now();
  const value = await work();
  return { ms: performance.now() - started, value };
}

async function overhead(): Promise<void> {
  const plain: number[] = [];
  const whole: number[] = [];
  const tests: number[] = [];
  for (let run = 0; run < 10; run++) {
    plain.push((await timed(() => ['tests/test_calc.py', 'tests/test_hidden.py'].forEach(bare))).ms);
    const { ms: took, value } = await timed(graded);
    whole.push(took);
    tests.push(value.tests);
  }
  const [a, b, inside] = [median(plain), median(whole), median(tests)];
  console.log(`grade ${ms(b)}, two bare docker runs ${ms(a)}, ratio ${(b / a).toFixed(2)} (median of 10)`);
  console.log(
    `of the grade, ${ms(inside)} are the two commands with their exec; ${ms(b - inside)} make ready and remove`,
  );
}

async function throughput(concurrency: number, count: number): Promise<void> {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await graded();
  };
  const { ms: took } = await timed(() => Promise.all(Array.from({ length: concurrency }, worker)));
  console.log(`grades a minute, concurrency ${concurrency}: ${((count * 60_000) / took).toFixed(0)}`);
}

async function memory(): Promise<void> {
  const resident = (done: number) => {
    globalThis.gc?.();
    const { rss, heapUsed, external } = process.memoryUsage();
    const [all, heap, outside] = [rss, heapUsed, external].map((bytes) => Math.round(bytes / 2 ** 20));
    console.log(
      `after ${done} grades: resident memory ${all} MiB, of it objects ${heap} MiB and buffers ${outside} MiB`,
    );
  };
  resident(0);
  for (let quarter = 1; quarter <= 4; quarter++) {
    for (let at = 0; at < grades / 8; at++) await Promise.all([graded(), graded()]);
    resident((quarter * grades) / 4);
  }
  const filters = { label: [`flipstream.oracle=${ORACLE_HOST}`] };
  const left = await docker.listContainers({ all: true, filters });
  const { Volumes } = await docker.listVolumes();
  console.log(`left in the engine: ${left.length} containers, ${Volumes.length} volumes`);
}

try {
  await overhead();
  for (const concurrency of [1, 2, 4]) await throughput(concurrency, 20);
  await memory();
} finally {
  task.remove();
  rmSync(dir, { recursive: true, force: true });
}
