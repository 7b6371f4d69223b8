import { describe, expect, test } from 'vitest';
import type { Verdict } from '../../schemas/generated.ts';
import type { StreamRecord } from '../record.ts';
import { joined } from '../testing/joined.ts';
import { createTestOracle, TASK, type TestTask } from '../testing/oracle.ts';
import { eventRecord, recordsOf, verdictRecord } from '../testing/run.ts';
import { beginSession, gradedSession, type TestSession } from '../testing/session.ts';

const oracle = createTestOracle();

/** One stop, one signed PASS: all that a flip needs, and the PASS by itself. */
function passed(options: { task?: TestTask } = {}): {
  session: TestSession;
  pass: Verdict;
  rest: StreamRecord[];
} {
  const session = gradedSession({ oracle, answers: ['PASS'], ...options });
  const pass = session.verdicts.pop();
  if (!pass) throw new Error('no verdict');
  return { session, pass, rest: recordsOf(session) };
}

function outcomeOf(records: StreamRecord[], ring = oracle.ring) {
  const { sessions, flips } = joined(records, ring);
  return { flips: Object.keys(flips).length, ...sessions['session-1'] };
}

describe('only the oracle says PASS', () => {
  test('the untouched verdict is a flip: what follows can fail', () => {
    const { pass, rest } = passed();
    expect(outcomeOf([...rest, verdictRecord(pass)])).toMatchObject({
      flips: 1,
      outcome: 'flipped',
      usable: true,
    });
  });

  const { pass: sample } = passed();
  for (const field of Object.keys(sample) as (keyof Verdict)[]) {
    test(`one field altered after signing, ${field}: no flip`, () => {
      const { pass, rest } = passed();
      const was = pass[field];
      const altered = { ...pass, [field]: typeof was === 'number' ? was + 1 : `${was ?? ''}A` };
      const result = outcomeOf([...rest, verdictRecord(altered, 'session-1')]);
      expect(result).toMatchObject({ flips: 0, usable: false, attempts: 0 });
      // An altered mode is no grade, so not even a baseline; an altered key id is nobody's.
      expect(result.marks?.some((mark) => mark.startsWith('rejected:'))).toBe(true);
    });
  }

  const wrong: [string, Partial<Verdict>, string][] = [
    ['another session', { session_id: 'session-2' }, 'rejected:session'],
    ['another chain', { chain_id: 'home-2' }, 'rejected:chain'],
    ['another head', { head: 'e'.repeat(64) }, 'rejected:head'],
    ['another diff', { diff_hash: 'e'.repeat(64) }, 'rejected:diff_hash'],
    ['another task', { task_id: 'task-2' }, 'rejected:task_id'],
    ['another base commit', { base_commit: 'd'.repeat(40) }, 'rejected:base_commit'],
    ['other tests than the baseline', { tests_hash: 'd'.repeat(64) }, 'rejected:baseline_tests_hash'],
    ['another image than the baseline', { image: 'sha256:1' }, 'rejected:baseline_image'],
    ['a request nobody made', { request_id: 'r-9' }, 'unsolicited'],
    ['no request', { request_id: null }, 'unsolicited'],
    ['no attempt', { attempt: 0 }, 'rejected:attempt'],
    ['an unknown word', { verdict: 'MAYBE' }, 'rejected:verdict'],
    ['a runner the key may not claim', { runner: 'container' }, 'rejected:runner_not_allowed'],
    ['a placement the key may not claim', { placement: 'separate_host' }, 'rejected:placement_not_allowed'],
  ];
  for (const [what, fields, mark] of wrong) {
    test(`rightly signed, but for ${what}: ${mark}`, () => {
      const { pass, rest } = passed();
      const signed = oracle.sign({ ...pass, ...fields });
      const result = outcomeOf([...rest, verdictRecord(signed, 'session-1')]);
      expect(result).toMatchObject({ flips: 0, attempts: 0, usable: false });
      expect(result.marks).toContain(mark);
    });
  }

  test('replayed under another session: no flip there', () => {
    const { pass } = passed();
    const other = gradedSession({ oracle, answers: [], sessionId: 'session-2' });
    const records = [...recordsOf(other), verdictRecord(pass, 'session-2')];
    const { sessions, flips } = joined(records, oracle.ring);
    expect(flips).toEqual({});
    expect(sessions['session-2']?.marks).toContain('rejected:session');
  });

  test('signed by a key that the ring does not hold, under the id of one that it does', () => {
    const { pass, rest } = passed();
    const forged = createTestOracle().sign({ ...pass });
    expect(outcomeOf([...rest, verdictRecord(forged)]).marks).toContain('rejected:bad_signature');
  });

  test('without a baseline, and with one that passes already', () => {
    const { pass, rest } = passed();
    const events = rest.filter(({ topic }) => topic === 'trace.events');
    expect(outcomeOf([...events, verdictRecord(pass)])).toMatchObject({ flips: 0, usable: false });
    const green = oracle.sign({ mode: 'baseline', attempt: 0, verdict: 'PASS' });
    const result = outcomeOf([...events, verdictRecord(pass), verdictRecord(green, 'session-1')]);
    expect(result.flips).toBe(0);
    expect(result.marks).toContain('rejected:baseline_not_fail');
  });

  test('with a forged baseline', () => {
    const { pass, rest } = passed();
    const events = rest.filter(({ topic }) => topic === 'trace.events');
    const forged = createTestOracle().baseline(TASK);
    const result = outcomeOf([...events, verdictRecord(pass), verdictRecord(forged, 'session-1')]);
    expect(result.flips).toBe(0);
    expect(result.marks).toEqual(
      expect.arrayContaining(['rejected:no_baseline', 'rejected:baseline_bad_signature']),
    );
  });

  test('a claim without a verdict: unconfirmed once ended, and no flip', () => {
    const session = beginSession();
    session.ask('r-1');
    session.claim('r-1', 'PASS');
    expect(outcomeOf(recordsOf(session))).toMatchObject({ flips: 0, marks: [], outcome: null });
    session.end('flipped');
    expect(outcomeOf(recordsOf(session))).toMatchObject({
      flips: 0,
      marks: ['unconfirmed'],
      outcome: 'ungraded',
      usable: false,
    });
  });

  test('a claim that differs from what was signed', () => {
    const session = gradedSession({ oracle, answers: ['FAIL'] });
    session.claim('session-1-r1', 'PASS');
    expect(outcomeOf(recordsOf(session))).toMatchObject({
      flips: 0,
      outcome: 'no_flip',
      marks: ['claim_differs'],
    });
  });
});

describe('the chain must reach the head', () => {
  test('an event missing below the head; found later, it is a flip', () => {
    const { pass, rest } = passed();
    const without = rest.filter((_, index) => index !== 1);
    const holed = [...without, verdictRecord(pass)];
    const result = outcomeOf(holed);
    expect(result).toMatchObject({ flips: 0, gaps: 1 });
    expect(result.marks).toEqual(expect.arrayContaining(['gap', 'rejected:incomplete_chain']));
    expect(outcomeOf([...holed, ...rest.slice(1, 2)])).toMatchObject({ flips: 1, marks: [] });
  });

  test('an event altered below the head', () => {
    const { session, pass, rest } = passed();
    const [, altered] = session.events;
    if (!altered) throw new Error('no event');
    const records = rest.map((record, index) =>
      index === 1 ? eventRecord({ ...altered, tool_name: 'Other' }) : record,
    );
    const result = outcomeOf([...records, verdictRecord(pass)]);
    expect(result).toMatchObject({ flips: 0, usable: false });
    expect(result.marks).toContain('rejected:broken_chain');
  });

  test('an inherited session is never a flip', () => {
    const session = gradedSession({ oracle, start: { inherited: true } });
    const result = outcomeOf(recordsOf(session));
    expect(result).toMatchObject({ flips: 0, outcome: 'ungraded', usable: false });
    expect(result.marks).toEqual(['inherited', 'rejected:inherited']);
  });
});
