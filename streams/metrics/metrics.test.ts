import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FlipMetric, FlipMetricDelta, Session } from '../../schemas/generated.ts';
import type { StreamRecord } from '../record.ts';
import { joined } from '../testing/joined.ts';
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
    else for (const name of COUNTS) sum[name] += own[name];
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
          else for (const name of COUNTS) expect(value[name]).toBe(0);
        }
        for (const bucket of expected.keys()) expect(sums.has(bucket)).toBe(true);
      }),
    );
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
    expect(own).toMatchObject({ sessions: 1, graded: 1, flipped: 1, no_flip: 0, attempts: 2 });
    expect(contributionOf({ ...session, model: null }).bucket).toContain('"claude-code",null,');
    expect(Object.keys(own)).not.toContain('host_id');
  });
});
