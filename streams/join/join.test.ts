import { describe, expect, test } from 'vitest';
import { verdictHash } from '../../schemas/signature.ts';
import { joined } from '../testing/joined.ts';
import { createTestOracle } from '../testing/oracle.ts';
import { eventRecord, recordsOf, verdictRecord } from '../testing/run.ts';
import { beginSession, gradedSession } from '../testing/session.ts';

const oracle = createTestOracle();
const FLIP = 'session-1:task-1';

describe('a graded session', () => {
  test('FAIL, then PASS: one flip at the second attempt, with both signed records', () => {
    const session = gradedSession({ oracle });
    const { sessions, flips } = joined(recordsOf(session), oracle.ring);
    const [baseline, , pass] = session.verdicts;
    expect(flips[FLIP]).toMatchObject({ attempt: 2, head: pass?.head, retracted: null });
    expect(JSON.parse(flips[FLIP]?.verdict ?? '')).toMatchObject({ verdict_id: pass?.verdict_id });
    expect(JSON.parse(flips[FLIP]?.baseline ?? '')).toMatchObject({ verdict_id: baseline?.verdict_id });
    expect(sessions['session-1']).toMatchObject({
      outcome: 'flipped',
      attempts: 2,
      usable: true,
      marks: [],
      ended: true,
      events: session.events.length,
      messages: 4,
      tool_calls: 2,
      tool_errors: 1,
      turns: 2,
      gaps: 0,
      task_family: 'parsers',
      model: 'model-1',
      revision: session.events.length + 3,
    });
  });

  test('two PASSes: the flip is the lowest attempt', () => {
    const session = gradedSession({ oracle, answers: ['FAIL', 'PASS', 'PASS'] });
    expect(joined(recordsOf(session), oracle.ring).flips[FLIP]?.attempt).toBe(2);
  });

  test('only FAILs: no_flip, no flip record', () => {
    const { sessions, flips } = joined(
      recordsOf(gradedSession({ oracle, answers: ['FAIL', 'FAIL'] })),
      oracle.ring,
    );
    expect(flips).toEqual({});
    expect(sessions['session-1']).toMatchObject({ outcome: 'no_flip', attempts: 2, usable: true });
  });

  test('no verdict is a third state: signed ERRORs are neither FAIL nor attempts', () => {
    const session = gradedSession({ oracle, answers: ['ERROR', 'ERROR'], outcome: 'oracle_error' });
    expect(joined(recordsOf(session), oracle.ring).sessions['session-1']).toMatchObject({
      outcome: 'oracle_error',
      attempts: 0,
      oracle_errors: 2,
    });
  });

  test('a late PASS beats an end that says aborted', () => {
    const session = gradedSession({ oracle, outcome: 'aborted' });
    expect(joined(recordsOf(session), oracle.ring).sessions['session-1']?.outcome).toBe('flipped');
  });

  test('open: no outcome yet', () => {
    const session = beginSession();
    expect(joined(recordsOf(session), oracle.ring).sessions['session-1']).toMatchObject({
      outcome: null,
      ended: false,
    });
  });
});

describe('a flip that stops holding is withdrawn, not forgotten', () => {
  test('by a signed retraction, after or before the PASS', () => {
    const session = gradedSession({ oracle });
    const pass = session.verdicts.at(-1);
    const retraction = oracle.sign({
      ...pass,
      verdict_id: 'regrade',
      verdict: 'FAIL',
      retracts: pass?.verdict_id ?? '',
    });
    const records = [...recordsOf(session), verdictRecord(retraction)];
    for (const order of [records, [...records].reverse()]) {
      const { flips, sessions } = joined(order, oracle.ring);
      expect(flips[FLIP]?.retracted).toBe('retracted');
      expect(sessions['session-1']).toMatchObject({ outcome: 'no_flip', marks: ['retracted'] });
    }
  });

  test('but not by a retraction under a key that could not have claimed it', () => {
    const container = createTestOracle({ runner: 'container' });
    const session = gradedSession({ oracle: container });
    const pass = session.verdicts.at(-1);
    const other = oracle.sign({
      session_id: session.sessionId,
      verdict: 'FAIL',
      retracts: pass?.verdict_id ?? '',
    });
    const ring = { v: 1 as const, keys: [...oracle.ring.keys, ...container.ring.keys] };
    expect(joined([...recordsOf(session), verdictRecord(other)], ring).flips[FLIP]?.retracted).toBeNull();
  });

  test('by a fork below the head; one above it changes no flip', () => {
    const session = gradedSession({ oracle });
    const fork = (seq: number) =>
      eventRecord({ ...session.add({ text_redacted: 'other' }), seq, fork: true });
    const records = recordsOf(session);
    const high = joined([...records, fork(session.events.length - 1)], oracle.ring);
    expect(high.flips[FLIP]?.retracted).toBeNull();
    expect(high.sessions['session-1']).toMatchObject({ marks: ['fork'], usable: false });
    const low = joined([...records, fork(2)], oracle.ring);
    expect(low.flips[FLIP]?.retracted).toBe('fork');
    expect(low.sessions['session-1']?.outcome).toBe('ungraded');
  });

  test('by a revocation in the key ring', () => {
    const own = createTestOracle();
    const session = gradedSession({ oracle: own });
    const [baseline] = session.verdicts;
    const [key] = own.ring.keys;
    if (!baseline || !key) throw new Error('no key');
    const revoked_after = { seq: baseline.oracle_seq, hash: verdictHash(baseline) };
    const ring = { v: 1 as const, keys: [{ ...key, revoked_after }] };
    const states = new Map<string, string>();
    const records = recordsOf(session);
    expect(joined(records, own.ring, states).flips[FLIP]?.retracted).toBeNull();
    const more = [eventRecord(session.add({ type: 'notice', kind: 'compaction' }))];
    expect(joined(more, ring, states).flips[FLIP]?.retracted).toBe('revoked');
    expect(joined(records, ring).flips[FLIP]?.retracted).toBe('revoked');
  });

  test('by a key that is gone from the ring', () => {
    const session = gradedSession({ oracle });
    const states = new Map<string, string>();
    joined(recordsOf(session), oracle.ring, states);
    const nobody = { v: 1 as const, keys: [] };
    const more = [eventRecord(session.add({ type: 'notice', kind: 'compaction' }))];
    expect(joined(more, nobody, states).flips[FLIP]?.retracted).toBe('unknown_key');
  });
});
