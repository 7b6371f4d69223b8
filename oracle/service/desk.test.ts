import { expect, test } from 'vitest';
import type { AnswerCode } from '../../schemas/grade.ts';
import { rejectionOf, verdictHash } from '../../schemas/signature.ts';
import { exportKeyRing } from '../keys/ring.ts';
import { byContent, gradeRequest, phase, runResult } from '../testing.ts';
import { unfinished } from './requests.ts';
import { answerOf, BUCKET, eventually, HOST, setUpDesk } from './testing.ts';

test('FAIL, then PASS: signed, chained, with the baseline copied first under the session\u2019s key, once', async () => {
  const set = await setUpDesk();
  const codes = [];
  for (const diff of ['bad', 'good']) codes.push(await answerOf(set, gradeRequest(set.row, diff)));
  codes.push(await answerOf(set, gradeRequest(set.row, 'bad 2', { session_id: 'other' })));
  expect(codes).toEqual(['FAIL', 'PASS', 'FAIL']);
  const records = await set.verdicts();
  expect(records.map(({ key, value }) => [key, value.mode, value.verdict, value.attempt])).toEqual([
    ['session', 'baseline', 'FAIL', 0],
    ['session', 'grade', 'FAIL', 1],
    ['session', 'grade', 'PASS', 2],
    ['other', 'baseline', 'FAIL', 0],
    ['other', 'grade', 'FAIL', 1],
  ]);
  const ring = exportKeyRing(set.oracle.home, 'process');
  const chain = [...new Map(records.map(({ value }) => [value.verdict_id, value])).values()];
  chain.forEach((verdict, at) => {
    const before = chain[at - 1];
    expect(rejectionOf(verdict, ring)).toBeNull();
    expect(verdict.oracle_seq).toBe(at);
    expect(verdict.oracle_prev).toBe(before ? verdictHash(before) : null);
  });
  const [, first] = records;
  expect(first?.value).toMatchObject({
    requester: 'host',
    runner: 'process',
    placement: 'same_host',
    head: '0'.repeat(64),
  });
});

test('O7 answers and verdicts leave on bucket edges only, whenever the run ended', async () => {
  const set = await setUpDesk();
  await set.timers.advance(137);
  const start = set.timers.now();
  const at: number[] = [];
  const ask = (diff: string) =>
    set.desk.ask(HOST, gradeRequest(set.row, diff), 'same_host').then(() => at.push(set.timers.now()));
  const asked = [ask('bad'), ask('good'), set.desk.refuse().then(() => at.push(set.timers.now()))];
  await eventually(() => expect(unfinished(set.oracle.db)).toEqual([]));
  await set.timers.advance(BUCKET - 138 - (start % BUCKET) + 137);
  expect(at).toEqual([]);
  expect(await set.verdicts()).toEqual([]);
  await set.timers.advance(1);
  await Promise.all(asked);
  const edge = Math.ceil(start / BUCKET) * BUCKET;
  expect(at).toEqual([edge, edge, edge]);
  const released = (await set.verdicts())
    .filter(({ value }) => value.mode === 'grade')
    .map(({ value }) => Date.parse(value.released_at));
  expect(released).toEqual([edge, edge]);
});

test('a deadline gives PENDING on the edge before it; the verdict is published late; asked again it is the answer', async () => {
  const held = Promise.withResolvers<void>();
  const set = await setUpDesk({ judge: (job) => ({ ...byContent(job) }) });
  set.runner.run = async (job) => {
    set.runner.jobs.push(job);
    await held.promise;
    return byContent(job);
  };
  const request = gradeRequest(set.row, 'good', { deadline_ms: 2500 });
  let code: AnswerCode | null = null;
  const asked = set.desk.ask(HOST, request, 'same_host').then((answer) => {
    code = answer;
  });
  await set.timers.advance(1999);
  expect(code).toBeNull();
  await set.timers.advance(1);
  await asked;
  expect(code).toBe('PENDING');
  const again = set.desk.ask(HOST, { ...request, deadline_ms: 900 }, 'same_host');
  await set.timers.advance(900);
  expect(await again).toBe('PENDING');
  held.resolve();
  expect(await answerOf(set, request)).toBe('PASS');
  expect(await answerOf(set, request)).toBe('PASS');
  expect(set.runner.jobs).toHaveLength(3);
  expect((await set.verdicts()).map(({ value }) => value.mode)).toEqual(['baseline', 'grade']);
});

test('a verdict of the very edge at which the asker gives up is the answer', async () => {
  const set = await setUpDesk();
  const asked = set.desk.ask(HOST, gradeRequest(set.row, 'good', { deadline_ms: BUCKET }), 'same_host');
  await eventually(() => expect(unfinished(set.oracle.db)).toEqual([]));
  await set.timers.advance(BUCKET);
  expect(await asked).toBe('PASS');
});

test('the same request twice at once is graded once, and both are answered', async () => {
  const set = await setUpDesk();
  const request = gradeRequest(set.row, 'good');
  const both = await Promise.all([answerOf(set, request), answerOf(set, request)]);
  expect(both).toEqual(['PASS', 'PASS']);
  expect(set.runner.jobs).toHaveLength(3);
  expect((await set.verdicts()).filter(({ value }) => value.mode === 'grade')).toHaveLength(1);
});

test('a request id that asks something else is refused', async () => {
  const set = await setUpDesk();
  const request = gradeRequest(set.row, 'good');
  expect(await answerOf(set, request)).toBe('PASS');
  expect(await answerOf(set, gradeRequest(set.row, 'bad', { request_id: request.request_id }))).toBe(
    'NO_TASK',
  );
  expect(await answerOf(set, { ...request, head: '1'.repeat(64) })).toBe('NO_TASK');
});

test('another task, base commit, root commit or diff hash is NO_TASK, and nothing is signed', async () => {
  const set = await setUpDesk();
  const changes = [
    { task_id: 'none' },
    { task_id: '../x' },
    { base_commit: '1'.repeat(40) },
    { root_commit: '1'.repeat(40) },
    { diff_hash: '1'.repeat(64) },
    { diff: Buffer.alloc(20_000).toString('base64') },
  ];
  for (const change of changes)
    expect(await answerOf(set, gradeRequest(set.row, 'good', change))).toBe('NO_TASK');
  const other = { name: 'other', tasks: ['another-task'] };
  expect(await answerOf(set, gradeRequest(set.row, 'good'), other)).toBe('NO_TASK');
  expect(await set.verdicts()).toEqual([]);
});

test('the same diff again is answered from the cache: signed for its asker, an attempt of its own, and no sooner', async () => {
  let slow = true;
  const set = await setUpDesk({
    judge: (job) => byContent(job),
  });
  const run = set.runner.run;
  set.runner.run = async (job) => {
    if (slow) await set.timers.advance(3500);
    return run(job);
  };
  const first = gradeRequest(set.row, 'bad');
  expect(await answerOf(set, first)).toBe('FAIL');
  slow = false;
  const asked = set.timers.now();
  let answered = 0;
  const again = set.desk
    .ask({ name: 'second', tasks: ['*'] }, gradeRequest(set.row, 'bad'), 'same_host')
    .then((code) => {
      answered = set.timers.now();
      return code;
    });
  await eventually(async () => {
    await set.timers.advance(BUCKET);
    expect(answered).toBeGreaterThan(0);
  });
  expect(await again).toBe('FAIL');
  expect(answered - asked).toBeGreaterThanOrEqual(3500);
  expect(set.runner.jobs).toHaveLength(3);
  const grades = (await set.verdicts())
    .filter(({ value }) => value.mode === 'grade')
    .map(({ value }) => value);
  expect(grades.map(({ requester, attempt }) => [requester, attempt])).toEqual([
    ['host', 1],
    ['second', 1],
  ]);
  expect(grades[1]?.cached_from).toBe(grades[0]?.verdict_id);
});

test('the same diff asked at once by two sessions runs once; the copy names its original', async () => {
  const set = await setUpDesk({ desk: { concurrency: 2 } });
  const asks = ['a', 'b'].map((session_id) => answerOf(set, gradeRequest(set.row, 'bad', { session_id })));
  expect(await Promise.all(asks)).toEqual(['FAIL', 'FAIL']);
  expect(set.runner.jobs).toHaveLength(3);
  const grades = (await set.verdicts())
    .filter(({ value }) => value.mode === 'grade')
    .map(({ value }) => value);
  expect(grades.map(({ cached_from }) => cached_from)).toEqual([null, grades[0]?.verdict_id]);
});

test('O5 a fault is ERROR, signed, no attempt, and never remembered', async () => {
  let broken = true;
  const fault = { class: 'mirror_unreadable', message: 'gone' } as const;
  const set = await setUpDesk({
    judge: (job) => (broken ? runResult(0, 1, { suite: null, hidden: [], fault }) : byContent(job)),
  });
  expect(await answerOf(set, gradeRequest(set.row, 'good'))).toBe('ERROR');
  broken = false;
  expect(await answerOf(set, gradeRequest(set.row, 'good'))).toBe('PASS');
  const grades = (await set.verdicts()).map(({ value }) => [value.verdict, value.attempt]);
  expect(grades).toEqual([
    ['FAIL', 0],
    ['ERROR', null],
    ['PASS', 1],
  ]);
});

test('O5 the control run of the baseline decides: a broken suite or a missing program there is ERROR, else FAIL', async () => {
  const missing = runResult(0, 1, { hidden: [phase('hidden 1', null, { spawn_error: 'ENOENT' })] });
  const hang = runResult(0, 1, { hidden: [phase('hidden 1', null, { timed_out: true })] });
  const base = runResult(0, 1);
  const cases: [ReturnType<typeof runResult>, ReturnType<typeof runResult> | null, AnswerCode][] = [
    [runResult(1, 0), runResult(1, 1), 'ERROR'],
    [runResult(1, 0), base, 'FAIL'],
    [missing, missing, 'ERROR'],
    [missing, base, 'FAIL'],
    [hang, base, 'FAIL'],
    [hang, hang, 'ERROR'],
    [
      runResult(0, 1, { low_disk: true }),
      runResult(0, 1, { fault: { class: 'disk_full', message: '' } }),
      'ERROR',
    ],
    [runResult(0, 1), null, 'FAIL'],
    [runResult(0, 0, { refused: 'does not apply' }), null, 'FAIL'],
  ];
  let current = cases[0];
  const set = await setUpDesk({
    task: { max_attempts: 20 },
    judge: (job) => {
      const result = job.diff === null ? current?.[1] : current?.[0];
      if (!result) throw new Error('no control run was expected');
      return result;
    },
  });
  for (const [at, each] of cases.entries()) {
    current = each;
    expect(await answerOf(set, gradeRequest(set.row, `diff ${at}`))).toBe(each[2]);
  }
});

test('a full queue is ERROR, not a loss', async () => {
  const held = Promise.withResolvers<void>();
  const set = await setUpDesk({ desk: { queueLimit: 1 }, task: { max_attempts: 20 } });
  set.runner.run = async (job) => {
    await held.promise;
    return byContent(job);
  };
  const asks = ['good 1', 'good 2', 'good 3'].map((diff) =>
    set.desk.ask(HOST, gradeRequest(set.row, diff), 'same_host'),
  );
  await set.timers.advance(BUCKET);
  expect(await asks[2]).toBe('ERROR');
  held.resolve();
  let answered = 0;
  for (const ask of asks) void ask.then(() => answered++);
  await eventually(async () => {
    await set.timers.advance(BUCKET);
    expect(answered).toBe(3);
  });
  expect(await Promise.all(asks)).toEqual(['PASS', 'PASS', 'ERROR']);
});
