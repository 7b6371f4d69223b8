/** The service in a process of its own, for tests that kill it. Arguments: oracle home, published file, kind of runner. */
import { appendFileSync } from 'node:fs';
import { pino } from 'pino';
import { oracleLayout } from '../home.ts';
import { startOracle } from '../main.ts';
import type { Runner, RunResult } from '../runner/runner.ts';

const [, , root = '', published = '', kind] = process.argv;

const ended = {
  signal: null,
  timed_out: false,
  spawn_error: null,
  duration_ms: 1,
  output: '',
  output_bytes: 0,
};

const runner: Runner = {
  kind: 'process',
  version: 'child/1',
  async run(job): Promise<RunResult> {
    // Long enough that kills fall before, in and after runs.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const exit = job.diff?.includes('good') ? 0 : 1;
    const hidden = [{ name: 'hidden 1', exit, ...ended }];
    return {
      refused: null,
      dropped: [],
      low_disk: false,
      fault: null,
      suite: { name: 'suite', exit: 0, ...ended },
      hidden,
    };
  },
  async sweep() {},
};

const service = await startOracle({
  home: oracleLayout(root),
  ...(kind === 'process' ? { runner } : {}),
  bucketMs: 20,
  concurrency: 2,
  // All are asked for at once: a full queue, which answers ERROR, is not what is looked at.
  queueLimit: 1000,
  logger: pino({ level: 'silent' }),
  log: {
    async publish(records) {
      appendFileSync(published, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    },
  },
});
process.stdout.write(`${service.url}\n`);
