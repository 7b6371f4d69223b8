import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fc } from '@fast-check/vitest';
import { expect, test } from 'vitest';
import { gradeDiff } from '../grade-diff.ts';
import type { Oracle } from '../oracle.ts';
import { keepDiff, listRuns, readDiff, readRun } from '../private-log.ts';
import { finishRequest, requestById, requestReasonName } from '../service/requests.ts';
import { taskAdd } from '../tasks/add.ts';
import { taskCheck } from '../tasks/check.ts';
import { knownTask, loadTask } from '../tasks/store.ts';
import { fakeRunner, makeOracle, makeRepository, phase, runResult, taskDirectory } from '../testing.ts';
import { openText } from './text.ts';

const TASK = 'demo-split-bill';
const SECRETS = [
  'HIDDEN-TEST-TEXT',
  'HIDDEN-NAME',
  'HIDDEN-TITLE',
  'DIFF-TEXT',
  'OUTPUT-TEXT',
  'REFERENCE-TEXT',
];

async function used() {
  const output = phase('hidden 1', 1, {
    output: 'OUTPUT-TEXT of a test',
    verdict: { passed: false, why: 'test/HIDDEN-NAME.test.js > HIDDEN-TITLE failed' },
  });
  const oracle = makeOracle({ runner: fakeRunner(() => runResult(0, 1, { hidden: [output] })) });
  const dir = taskDirectory(makeRepository(), {}, { 'test/HIDDEN-NAME.test.js': '// HIDDEN-TEST-TEXT' });
  await taskAdd(oracle, dir);
  await taskCheck(oracle, TASK);
  const diff = Buffer.from('DIFF-TEXT');
  await gradeDiff(oracle, knownTask(oracle, TASK), { kind: 'by_hand', diff, diff_hash: 'd'.repeat(64) });
  keepDiff(oracle, 'd'.repeat(64), diff);
  return { oracle, dir };
}

const REASON = 'hidden 1 test/HIDDEN-NAME.test.js > HIDDEN-TITLE failed';

function found(oracle: Oracle): string {
  const args = ['-c', `grep -rlF ${SECRETS.map((secret) => `-e "${secret}"`).join(' ')} . || true`];
  return execFileSync('sh', args, { cwd: oracle.home.root }).toString();
}

/** A request that ended, as the service notes it. */
function noted(oracle: Oracle): number {
  const { lastInsertRowid } = oracle.db.sql
    .prepare(
      `insert into requests (principal, request_id, fingerprint, session_id, task_id, chain_id, head, diff_hash,
         tests_hash, facts, received_at, state) values ('p', 'r', '', 's', ?, '', '', '', '', '{}', 0, 'queued')`,
    )
    .run(TASK);
  const id = Number(lastInsertRowid);
  finishRequest(oracle, id, { code: 'FAIL', reason: REASON, cached_from: null, release_at: 0 });
  return id;
}

test('hidden tests, diffs and run logs lie in the home under its key only', async () => {
  const { oracle } = await used();
  const request = noted(oracle);
  oracle.db.sql.exec('pragma wal_checkpoint(truncate)');
  expect(found(oracle)).toBe('');
  expect(listRuns(oracle)[0]?.reason).toBe(REASON);
  const { reason } = requestById(oracle.db, request);
  expect(openText(oracle.sealer, requestReasonName(request), reason ?? '')).toBe(REASON);
  expect(readDiff(oracle, 'd'.repeat(64))?.toString()).toBe('DIFF-TEXT');
  expect(readRun(oracle, listRuns(oracle)[0]?.run_id ?? '')).toContain('OUTPUT-TEXT');
  expect(loadTask(oracle, TASK)?.hidden[0]?.content.toString()).toContain('HIDDEN-TEST-TEXT');
});

test('reasons that an earlier release left in the open are sealed when the home is opened, and read as before', async () => {
  const { oracle } = await used();
  const request = noted(oracle);
  const left = listRuns(oracle).map(({ reason }) => reason);
  oracle.db.sql.prepare("update runs set reason = ? where reason like 'sealed:%'").run(REASON);
  oracle.db.sql.prepare('update requests set reason = ?').run(REASON);
  // Beside one that has none.
  oracle.db.sql.exec(
    "insert into runs (run_id, kind, task_id, at, code) values ('none', 'grade', 't', '', 'PASS')",
  );
  oracle.close();
  expect(found(oracle)).not.toBe('');
  const next = makeOracle({ runner: fakeRunner(), root: oracle.home.root });
  expect(listRuns(next).map(({ reason }) => reason)).toEqual([null, ...left]);
  const { reason } = requestById(next.db, request);
  expect(openText(next.sealer, requestReasonName(request), reason ?? '')).toBe(REASON);
  next.close();
  expect(found(next)).toBe('');
});

test('what is sealed opens under its own name and its own key only, and a store without its key says so', async () => {
  const { oracle } = await used();
  const sealed = readFileSync(join(oracle.home.store, `${TASK}.task`));
  expect(() => oracle.sealer.open('other.task', sealed)).toThrow(/altered or sealed with another key/);
  expect(() => makeOracle().sealer.open(`${TASK}.task`, sealed)).toThrow(/another key/);
  const again = () => makeOracle({ runner: fakeRunner(), root: oracle.home.root });
  writeFileSync(oracle.home.storeKey, 'short');
  expect(again).toThrow(/has 5 bytes instead of 32/);
  rmSync(oracle.home.storeKey);
  expect(again).toThrow(/is missing/);
});

test('no byte of it can be changed, cut or added unseen', async () => {
  const { sealer } = makeOracle({ runner: fakeRunner() });
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 60 }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      async (content, at, bits) => {
        const sealed = sealer.seal('name', Buffer.from(content));
        expect(sealer.open('name', sealed)).toEqual(Buffer.from(content));
        const changed = Buffer.from(sealed);
        const place = at % sealed.length;
        changed[place] = (changed[place] ?? 0) ^ bits;
        expect(() => sealer.open('name', changed)).toThrow();
        expect(() => sealer.open('name', sealed.subarray(0, place))).toThrow();
        expect(() => sealer.open('name', Buffer.concat([sealed, Buffer.of(bits)]))).toThrow();
      },
    ),
  );
});

test('what release 0.1.0 left in the open is sealed when the home is opened', async () => {
  const { oracle } = await used();
  const definition = knownTask(oracle, TASK).definition;
  const row = knownTask(oracle, TASK).tests_hash;
  oracle.close();
  rmSync(join(oracle.home.store, `${TASK}.task`));
  const open = join(oracle.home.store, TASK);
  mkdirSync(join(open, 'hidden', 'test'), { recursive: true, mode: 0o700 });
  const {
    limits: _,
    expected_ids: __,
    suite_ids: ___,
    ids_from: ____,
    signals: _____,
    ...before
  } = definition;
  writeFileSync(join(open, 'task.json'), JSON.stringify(before));
  writeFileSync(join(open, 'hidden', 'test', 'HIDDEN-NAME.test.js'), '// HIDDEN-TEST-TEXT', { mode: 0o600 });
  writeFileSync(join(oracle.home.log, 'diffs', 'e.patch'), 'DIFF-TEXT');
  writeFileSync(join(oracle.home.log, 'runs', 'r-1.json'), 'OUTPUT-TEXT');
  const next = makeOracle({ runner: fakeRunner(), root: oracle.home.root });
  expect(knownTask(next, TASK).tests_hash).toBe(row);
  expect(readDiff(next, 'e')?.toString()).toBe('DIFF-TEXT');
  expect(readRun(next, 'r-1')).toBe('OUTPUT-TEXT');
  expect([open, join(oracle.home.log, 'runs', 'r-1.json')].map((path) => existsSync(path))).toEqual([
    false,
    false,
  ]);
});
