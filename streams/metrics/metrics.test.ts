import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FlipMetric, FlipMetricDelta, Session } from '../../schemas/generated.ts';
import type { StreamRecord } from '../record.ts';
import { joined } from '../testing/joined.ts';
import { mixed } from '../testing/mixed.ts';
import { createTestOracle } from '../testing/oracle.ts';
import { recordsOf, runReducer } from '../testing/run.ts';
import { beginSession, gradedSession } from '../testing/session.ts';
import { createBucketMetrics } from './bucket.ts';
import { COUNTS, contributionOf } from './contribution.ts';
import { createSessionMetrics } from './session.ts';

const oracle = createTestOracle();
const blank = joined(recordsOf(beginSession()), oracle.ring).sessions['session-1'];
if (!blank) throw new Error('no session');
const template: Session = blank;

const toSessions = (value: Session): StreamRecord => ({ topic: 'sessions', key: value.session_id, value });
const toDeltas = (value: FlipMetricDelta): StreamRecord => ({
  topic: 'flip.metrics.deltas',
  key: value.bucket,
  value,
});

function metricsOf(sessions: readonly Session[]): Map<string, FlipMetric> {
  const deltas = runReducer(createSessionMetrics(), sessions.map(toSessions)).out.map(({ value }) => value);
  const { out } = runReducer(createBucketMetrics(), deltas.map(toDeltas));
  return new Map(out.map(({ key, value }) => [key, value]));
}

const count = fc.nat({ max: 5 });
const revisions = fc.array(
  fc.record({
    session_id: fc.constantFrom('s1', 's2', 's3', 's4'),
    started_at: fc.constantFrom('2026-06-01T10:00:00.000Z', '2026-06-02T10:00:00.000Z', null),
    repo: fc.constantFrom('repo-1', null),
    harness: fc.constantFrom('claude-code', 'codex'),
    model: fc.constantFrom('m1', 'm2', null),
    task_family: fc.constantFrom('parsers', null),
    task_id: fc.constantFrom('task-1', null),
    outcome: fc.constantFrom('flipped', 'no_flip', 'aborted', null),
    attempts: count,
    oracle_errors: count,
    withheld: count,
    gaps: count,
  }),
  { minLength: 1, maxLength: 40 },
);

/** What the sums must be: from the last revision of every session alone. */
function recomputed(sessions: readonly Session[]): Map<string, Partial<FlipMetric>> {
  const sums = new Map<string, FlipMetric>();
  for (const session of new Map(sessions.map((session) => [session.session_id, session])).values()) {
    const own = contributionOf(session);
    const sum = sums.get(own.bucket);
    if (!sum) sums.set(own.bucket, { ...own });
    else {
      for (const name of COUNTS) sum[name] += own[name];
      sum.with_task = (sum.with_task ?? 0) + (own.with_task ?? 0);
    }
  }
  return sums;
}

describe('metrics', () => {
  test('sums equal a recomputation from the last state of every session; buckets that were left are zero', () => {
    fc.assert(
      fc.property(revisions, (list) => {
        const sessions = list.map((fields, index) => ({ ...template, ...fields, revision: index + 1 }));
        const sums = metricsOf(sessions);
        const expected = recomputed(sessions);
        for (const [bucket, value] of sums) {
          const want = expected.get(bucket);
          if (want) expect(value).toEqual(want);
          else for (const name of [...COUNTS, 'with_task'] as const) expect(value[name]).toBe(0);
        }
        for (const bucket of expected.keys()) expect(sums.has(bucket)).toBe(true);
      }),
    );
  });

  test('any permutation and duplication of the same sessions gives the same sums', () => {
    const runs = revisions.chain((list) => {
      const sessions = list.map((fields, index) => ({ ...template, ...fields, revision: index + 1 }));
      return fc.record({ sessions: fc.constant(sessions), mix: mixed(sessions) });
    });
    // Which buckets a session has been in and left, all zeros since, depends on which of its states were heard of.
    const counted = (sessions: readonly Session[]) =>
      new Map([...metricsOf(sessions)].filter(([, value]) => value.sessions > 0));
    fc.assert(
      fc.property(runs, ({ sessions, mix }) => {
        expect(counted(mix)).toEqual(counted(sessions));
      }),
    );
  });

  test('the order of the deltas does not matter to the sums', () => {
    const sessions = ['s1', 's2', 's3'].flatMap((session_id, nth) =>
      [1, 2].map((revision) => ({ ...template, session_id, revision, attempts: nth + revision, gaps: nth })),
    );
    const { out } = runReducer(createSessionMetrics(), sessions.map(toSessions));
    const deltas = out.map(({ value }) => toDeltas(value));
    const sums = (list: StreamRecord[]) => runReducer(createBucketMetrics(), list).last;
    const order = fc.shuffledSubarray(deltas, { minLength: deltas.length });
    fc.assert(
      fc.property(order, (list) => {
        expect(sums(list)).toEqual(sums(deltas));
      }),
    );
  });

  test('each count of three sessions of one bucket, as their verdicts and marks say', () => {
    const flipped = { outcome: 'flipped', attempts: 3, oracle_errors: 1, withheld: 2, gaps: 5 } as const;
    const left = { outcome: 'no_flip', attempts: 1, oracle_errors: 4, withheld: 6, gaps: 1 } as const;
    const none = {
      outcome: null,
      attempts: 0,
      oracle_errors: 0,
      withheld: 1,
      gaps: 0,
      task_id: null,
    } as const;
    const sessions = [flipped, left, none].map((fields, nth) => ({
      ...{ ...template, task_id: 'task-1', session_id: `s${nth}` },
      ...fields,
    }));
    const [[, sums] = []] = metricsOf(sessions);
    expect(sums).toMatchObject({ sessions: 3, with_task: 2, graded: 2, flipped: 1, no_flip: 1 });
    expect(sums).toMatchObject({ attempts: 4, oracle_errors: 5, withheld: 9, gaps: 6 });
  });

  test('what a release before did not count is not known, and no sum with it is; the next bucket is whole', () => {
    const { with_task: _, ...before } = contributionOf({ ...template, task_id: 'task-1' });
    const told = new Map([[template.session_id, JSON.stringify({ revision: 1, contribution: before })]]);
    const sums = new Map([[before.bucket, JSON.stringify(before)]]);
    const through = (session: Session) => {
      const { out } = runReducer(createSessionMetrics(), [toSessions(session)], told);
      return runReducer(
        createBucketMetrics(),
        out.map(({ value }) => toDeltas(value)),
        sums,
      ).out;
    };
    const now = { ...template, task_id: 'task-1', revision: 2 };
    expect(through(now)).toEqual([]);
    expect(through({ ...now, attempts: 1, revision: 3 })).toMatchObject([
      { value: { sessions: 1, attempts: 1, with_task: null } },
    ]);
    expect(through({ ...now, session_id: 'later', started_at: '2030-01-01T00:00:00.000Z' })).toMatchObject([
      { value: { sessions: 1, with_task: 1 } },
    ]);
  });

  test('an older revision, or one that changes no count, adds nothing', () => {
    const newer = { ...template, revision: 9 };
    const reducer = createSessionMetrics();
    const states = new Map<string, string>();
    expect(runReducer(reducer, [toSessions(newer)], states).out).toHaveLength(1);
    expect(runReducer(reducer, [toSessions({ ...template, attempts: 3, revision: 8 })], states).out).toEqual(
      [],
    );
    expect(runReducer(reducer, [toSessions({ ...newer, messages: 5, revision: 10 })], states).out).toEqual(
      [],
    );
  });

  test('the bucket is the day of the first event and the dimensions, and nothing of a person', () => {
    const session = joined(recordsOf(gradedSession({ oracle })), oracle.ring).sessions['session-1'];
    if (!session) throw new Error('no session');
    const own = contributionOf(session);
    expect(own.bucket).toBe(`["2026-06-01","${'a'.repeat(40)}","claude-code","model-1","parsers"]`);
    expect(own).toMatchObject({ sessions: 1, with_task: 1, graded: 1, flipped: 1, no_flip: 0, attempts: 2 });
    expect(contributionOf({ ...session, model: null }).bucket).toContain('"claude-code",null,');
    expect(Object.keys(own)).not.toContain('host_id');
  });
});
