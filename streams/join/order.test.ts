import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StreamRecord } from '../record.ts';
import { joined } from '../testing/joined.ts';
import { mixed } from '../testing/mixed.ts';
import { createTestOracle } from '../testing/oracle.ts';
import { eventRecord, recordsOf, verdictRecord } from '../testing/run.ts';
import { gradedSession } from '../testing/session.ts';

const oracle = createTestOracle();
const stranger = createTestOracle({ keyId: 'stranger' });

const answers = fc.array(fc.constantFrom('PASS', 'FAIL', 'ERROR'), { minLength: 0, maxLength: 4 });
const flags = fc.record({
  inherited: fc.boolean(),
  history_visible: fc.boolean(),
  task_source: fc.constantFrom('dispatch', 'project'),
  capture: fc.constantFrom('separate_user', 'imported'),
});

/** Everything that may lie under one session's key: two homes, forks, gaps, forgeries, strangers, retractions. */
const records: fc.Arbitrary<StreamRecord[]> = fc
  .record({
    answers,
    second: fc.option(answers, { nil: null }),
    flags,
    forkAt: fc.array(fc.nat({ max: 12 }), { maxLength: 3 }),
    drop: fc.array(fc.nat({ max: 20 }), { maxLength: 2 }),
    retract: fc.boolean(),
    forge: fc.boolean(),
    broken: fc.option(fc.nat({ max: 10 }), { nil: null }),
  })
  .map((plan) => {
    const session = gradedSession({ oracle, answers: plan.answers, start: plan.flags });
    const events = session.events.map((event) =>
      event.seq === plan.broken ? { ...event, prev: 'f'.repeat(64) } : event,
    );
    const list = events.filter(({ seq }) => !plan.drop.includes(seq)).map((event) => eventRecord(event));
    list.push(...session.verdicts.map((verdict) => verdictRecord(verdict, session.sessionId)));
    if (plan.second) {
      const other = gradedSession({
        oracle,
        answers: plan.second,
        chainId: 'home-2',
        at: Date.UTC(2026, 4, 31),
      });
      list.push(...recordsOf(other));
    }
    plan.forkAt.forEach((seq, index) => {
      const at = events[seq];
      if (at) list.push(eventRecord({ ...at, event_id: `fork-${index}`, fork: true, turn: 90 + index }));
    });
    const graded = session.verdicts.at(-1);
    if (plan.retract && graded?.session_id)
      list.push(
        verdictRecord(
          oracle.sign({ ...graded, verdict_id: 'again', verdict: 'FAIL', retracts: graded.verdict_id }),
        ),
      );
    if (plan.forge && graded?.session_id) {
      list.push(verdictRecord(stranger.sign({ ...graded, verdict: 'PASS' })));
      list.push(verdictRecord({ ...graded, verdict: 'PASS', attempt: 1 }));
    }
    return list;
  });

describe('order does not matter to the join', () => {
  test('any permutation and duplication of the same records gives the same last value of every key', () => {
    const runs = records.chain((list) => fc.record({ list: fc.constant(list), mix: mixed(list) }));
    fc.assert(
      fc.property(runs, ({ list, mix }) => {
        const straight = joined(list, oracle.ring);
        expect(joined(mix, oracle.ring)).toEqual(straight);
        expect(straight.sessions['session-1']?.revision).toBeGreaterThan(0);
      }),
      { numRuns: 150 },
    );
  });

  test('records seen before put nothing out and leave the state as it is', () => {
    const list = recordsOf(gradedSession({ oracle }));
    const states = new Map<string, string>();
    joined(list, oracle.ring, states);
    const before = new Map(states);
    expect(joined(list, oracle.ring, states)).toEqual({ sessions: {}, flips: {} });
    expect(states).toEqual(before);
  });

  test('a verdict before its session, or days after: the same flip', () => {
    const list = recordsOf(gradedSession({ oracle }));
    const verdictsFirst = [...list].sort((a, b) => (a.topic < b.topic ? -1 : 1));
    const eventsFirst = [...list].sort((a, b) => (a.topic < b.topic ? 1 : -1));
    const { flips } = joined(verdictsFirst, oracle.ring);
    expect(Object.keys(flips)).toHaveLength(1);
    expect(joined(eventsFirst, oracle.ring).flips).toEqual(flips);
  });
});
