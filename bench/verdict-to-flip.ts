/**
 * On the embedded log with join and sink in this process: from a verdict's publish to its flip at a consumer of
 * `flips`, and to its row in an SQL answer. `node bench/verdict-to-flip.ts [sessions]`
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedLog } from '../log/embedded/open.ts';
import { measureFlips } from './support/flip-latency.ts';
import { percentiles } from './support/percentiles.ts';

const SESSIONS = Number(process.argv[2] ?? 100);
const dir = mkdtempSync(join(tmpdir(), 'flipstream-bench-'));
const log = await openEmbeddedLog({ dir: join(dir, 'log'), maintainEveryMs: null });
const { toConsumer, toSql } = await measureFlips(log, join(dir, 'warehouse'), SESSIONS);
console.log(`verdict published to flip at a consumer: ${percentiles(toConsumer)} (${SESSIONS} sessions)`);
console.log(`verdict published to flip in SQL: ${percentiles(toSql)}`);
await log.close();
rmSync(dir, { recursive: true, force: true });
