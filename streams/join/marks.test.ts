import { expect, test } from 'vitest';
import { joined } from '../testing/joined.ts';
import { createTestOracle } from '../testing/oracle.ts';
import { recordsOf } from '../testing/run.ts';
import { beginSession, gradedSession } from '../testing/session.ts';

const oracle = createTestOracle();
const sessionOf = (session: ReturnType<typeof beginSession>) =>
  joined(recordsOf(session), oracle.ring).sessions[session.sessionId];

test('O4: a clone that held newer objects is marked and left out', () => {
  const session = gradedSession({ oracle, start: { history_visible: true } });
  expect(sessionOf(session)).toMatchObject({ marks: ['history_visible'], usable: false, outcome: 'flipped' });
});

test('a task that the project chose is marked and left out', () => {
  const session = gradedSession({ oracle, start: { task_source: 'project' } });
  expect(sessionOf(session)).toMatchObject({ marks: ['project_task'], usable: false });
});

test('a tree that could not be compared in time is marked and left out', () => {
  const session = gradedSession({ oracle, start: { tree_hash: 'unknown', inherited: null } });
  expect(sessionOf(session)).toMatchObject({ marks: ['tree_unknown'], usable: false });
});

test('losses that capture counted are gaps', () => {
  const session = beginSession();
  session.add({ type: 'notice', kind: 'events_lost', count: 7 });
  expect(sessionOf(session)).toMatchObject({ marks: ['lost_events'], gaps: 7, usable: false });
});

test('a loss told after the end is counted and opens nothing', () => {
  const session = beginSession();
  session.end('aborted');
  session.add({ type: 'notice', kind: 'gap' });
  expect(sessionOf(session)).toMatchObject({
    ended: true,
    outcome: 'aborted',
    gaps: 1,
    marks: ['lost_events'],
  });
});

test('content withheld is marked and left out', () => {
  const session = beginSession();
  session.add({ type: 'message', withheld: 'quarantined' });
  expect(sessionOf(session)).toMatchObject({ marks: ['withheld'], withheld: 1, usable: false });
});

test('work after the last graded head is unattested, which does not touch what was graded', () => {
  const session = gradedSession({ oracle });
  session.add({ type: 'message', role: 'assistant', text_redacted: 'one more thing' });
  session.end('flipped');
  expect(sessionOf(session)).toMatchObject({ marks: ['unattested'], usable: true, outcome: 'flipped' });
});

test('capture by the same user is said and harms nothing', () => {
  const session = gradedSession({ oracle, start: { capture: 'same_user' } });
  expect(sessionOf(session)).toMatchObject({ marks: ['capture_same_user'], usable: true });
});

test('what was imported joins no verdict, however well it is signed: no flip, no outcome, no attempt', () => {
  const session = gradedSession({ oracle, start: { capture: 'imported' } });
  const { sessions, flips } = joined(recordsOf(session), oracle.ring);
  expect(flips).toEqual({});
  expect(sessions[session.sessionId]).toMatchObject({
    ...{ capture: 'imported', usable: false, attempts: 0, outcome: 'ungraded', verdict_id: null },
    marks: ['imported', 'rejected:imported'],
  });
});

test('C8 a session in two homes: two chains, marked; a flip on the later one is not the whole session', () => {
  const first = beginSession({ at: Date.UTC(2026, 4, 1) });
  first.end('aborted');
  const second = gradedSession({ oracle, chainId: 'home-2' });
  const { sessions, flips } = joined([...recordsOf(first), ...recordsOf(second)], oracle.ring);
  expect(Object.values(flips)).toHaveLength(1);
  expect(sessions['session-1']).toMatchObject({ marks: ['later_chain', 'many_chains'], usable: false });
  const noise = beginSession({ chainId: 'home-3', at: Date.UTC(2026, 8, 1) });
  noise.end('aborted');
  const later = joined([...recordsOf(gradedSession({ oracle })), ...recordsOf(noise)], oracle.ring);
  expect(later.sessions['session-1']).toMatchObject({
    marks: ['many_chains'],
    usable: true,
    outcome: 'flipped',
  });
});

test('C7 a session that goes on after its end is open again', () => {
  const session = beginSession();
  session.end('aborted');
  expect(sessionOf(session)).toMatchObject({ ended: true, outcome: 'aborted' });
  session.add({ type: 'message', role: 'user' });
  expect(sessionOf(session)).toMatchObject({ ended: false, outcome: null });
});
