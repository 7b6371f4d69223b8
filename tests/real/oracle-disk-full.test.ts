/** The disk under the oracle's own home is full: ERROR, and no attempt is spent. */
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { startOracle } from '../../oracle/main.ts';
import { createToken } from '../../oracle/service/tokens.ts';
import { taskAdd } from '../../oracle/tasks/add.ts';
import { taskCheck } from '../../oracle/tasks/check.ts';
import { fakeRunner, gradeRequest, makeOracle, makeRepository, taskDirectory } from '../../oracle/testing.ts';
import { oracleAt } from '../../producers/collector/grader.ts';
import { mountSmallDisk, noSmallDisk } from '../support/small-disk.ts';

const why = noSmallDisk();
if (why) console.warn(`skipped: a full disk, since ${why}`);
const skipped = why !== null && process.env.CI === undefined;

test.skipIf(skipped)(
  'O5 a full disk under the oracle\u2019s home is ERROR, and the next grade is the first attempt',
  async () => {
    const disk = mountSmallDisk(16);
    onTestFinished(() => disk.remove());
    const runner = fakeRunner();
    const oracle = makeOracle({ runner, root: join(disk.path, 'home') });
    await taskAdd(oracle, taskDirectory(makeRepository(), { max_attempts: 1 }));
    const { row } = await taskCheck(oracle, 'demo-split-bill');
    const logger = pino({ level: 'silent' });
    const service = await startOracle({
      home: oracle.home,
      runner,
      log: null,
      bucketMs: 5,
      retryMs: [5],
      logger,
    });
    onTestFinished(() => service.stop());
    const at = { url: service.url, token: createToken(oracle, 'host') };
    const ask = (diff: string) => oracleAt(at, () => {})(gradeRequest(row, diff), 20_000);
    disk.fill();
    expect(await ask('good 1')).toEqual({ answer: 'ERROR', reached: true });
    disk.free();
    expect(await ask('good 2')).toEqual({ answer: 'PASS', reached: true });
  },
);
