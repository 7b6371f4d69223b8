import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AnswerCode } from '../../schemas/grade.ts';
import {
  type Asked,
  afterAnswer,
  afterGateNotice,
  afterToolCall,
  decideOpen,
  type GateState,
  MAX_BLOCKS,
  NEW_GATE,
  outcomeOf,
  patience,
  type SessionFacts,
} from './gate-policy.ts';

const FACTS: SessionFacts = {
  task_id: 't',
  base_commit: 'b',
  root_commit: 'r',
  worktree: '/w',
  max_attempts: 6,
  base_matches: true,
};
const asked = (change: Partial<Asked> = {}): Asked => ({
  ...{ request_id: 'q', head: 'h', diff_hash: 'd', since: 0, blocks: 0 },
  ...change,
});
const open = (gate: GateState, facts: SessionFacts | null = FACTS) =>
  decideOpen(facts, gate, { ungraded: null });

/** A Stop from open to answer. */
function stop(
  gate: GateState,
  answer: AnswerCode,
  now = 0,
  reached = true,
): { gate: GateState; block: boolean } {
  const opened = open(gate);
  if (opened.action === 'allow') return { gate: opened.gate, block: false };
  const q = gate.asked ?? asked({ since: now });
  return afterAnswer({ ...opened.gate, asked: q }, q, { answer, reached }, FACTS.max_attempts, now);
}

function stops(...answers: AnswerCode[]) {
  let gate = NEW_GATE;
  const blocks = answers.map((answer) => {
    const settled = stop(gate, answer);
    gate = settled.gate;
    return settled.block;
  });
  return { gate, blocks };
}

describe('C12 a Stop hook loops for ever, or its crash lets the agent stop', () => {
  test('FAIL blocks until the budget is used, and then lets go as no_flip', () => {
    const { gate, blocks } = stops('FAIL', 'FAIL', 'FAIL', 'FAIL', 'FAIL', 'FAIL', 'FAIL');
    expect(blocks).toEqual([true, true, true, true, true, false, false]);
    expect(outcomeOf(FACTS, gate, false)).toBe('no_flip');
  });

  test('three ERRORs in a row let go as oracle_error, and use no attempt', () => {
    const { gate, blocks } = stops('ERROR', 'ERROR', 'ERROR');
    expect(blocks).toEqual([true, true, false]);
    expect(gate.fails).toBe(0);
    expect(outcomeOf(FACTS, gate, false)).toBe('oracle_error');
    expect(stops('ERROR', 'ERROR', 'FAIL', 'ERROR').blocks).toEqual([true, true, true, true]);
  });

  test('PENDING holds for five Stops of one diff, or half an hour', () => {
    const { gate, blocks } = stops('PENDING', 'PENDING', 'PENDING', 'PENDING', 'PENDING', 'PENDING');
    expect(blocks).toEqual([true, true, true, true, true, false]);
    expect(outcomeOf(FACTS, gate, false)).toBe('pending');
    const first = stop(NEW_GATE, 'PENDING', 0);
    expect(stop(first.gate, 'PENDING', 29 * 60_000).block).toBe(true);
    expect(stop(first.gate, 'PENDING', 30 * 60_000).block).toBe(false);
  });

  test('a pending diff is not waited for longer than its half hour', () => {
    const gate = { ...NEW_GATE, asked: asked({ since: 0, blocks: 1 }) };
    expect(patience(gate, 'd', 540_000, 28 * 60_000)).toBe(120_000);
    expect(patience(gate, 'other', 540_000, 28 * 60_000)).toBe(540_000);
    expect(patience({ ...gate, asked: asked({ blocks: 5 }) }, 'd', 540_000, 0)).toBe(1_000);
  });

  test('never more than 7 blocks in a row since the last tool call, whatever is answered', () => {
    const answers = fc.array(
      fc.tuple(
        fc.constantFrom<AnswerCode>('PASS', 'FAIL', 'ERROR', 'PENDING', 'NO_TASK'),
        fc.boolean(),
        fc.constantFrom('none', 'tool', 'gate_failed', 'gate_late'),
        fc.nat(10 * 60_000),
      ),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(answers, (list) => {
        let gate = NEW_GATE;
        let inRow = 0;
        let now = 0;
        for (const [answer, reached, between, later] of list) {
          if (between === 'tool') {
            gate = afterToolCall(gate);
            inRow = 0;
          }
          now += later;
          const settled = stop(gate, answer, now, reached);
          gate = settled.gate;
          inRow = settled.block ? inRow + 1 : inRow;
          expect(inRow).toBeLessThanOrEqual(MAX_BLOCKS);
          if (settled.block) expect(['FAIL', 'ERROR', 'PENDING']).toContain(answer);
          expect(gate.fails).toBeLessThanOrEqual(FACTS.max_attempts);
        }
      }),
    );
  });

  test('a gate that failed by itself says so in the outcome', () => {
    const gate = afterGateNotice(afterGateNotice(NEW_GATE, 'gate_failed'), 'gate_error');
    expect(gate.blocks).toBe(1);
    expect(outcomeOf(FACTS, gate, false)).toBe('gate_error');
    expect(outcomeOf(FACTS, afterGateNotice(NEW_GATE, 'gate_gave_up'), false)).toBe('pending');
  });
});

describe('what is let through without a grade', () => {
  test.each([
    ['a subagent', { agent_id: 'a' }, FACTS, NEW_GATE, 'subagent'],
    ['no session known', {}, null, NEW_GATE, 'no_task'],
    ['no task', {}, { ...FACTS, task_id: null }, NEW_GATE, 'no_task'],
    ['HEAD is not the base', {}, { ...FACTS, base_matches: false }, NEW_GATE, 'not_on_base'],
    ['no commit', {}, { ...FACTS, base_commit: null }, NEW_GATE, 'not_on_base'],
    ['a flip is there', {}, FACTS, { ...NEW_GATE, flipped: true }, 'flipped'],
    ['plan mode', { ungraded: 'plan_mode' as const }, FACTS, NEW_GATE, 'plan_mode'],
    ['the budget is used', {}, FACTS, { ...NEW_GATE, fails: 6 }, 'budget'],
    ['seven blocks', {}, FACTS, { ...NEW_GATE, blocks: 7 }, 'block_limit'],
  ])('%s', (_, change, facts, gate, reason) => {
    expect(decideOpen(facts, gate, { ungraded: null, ...change })).toMatchObject({ action: 'allow', reason });
  });

  test('everything else is graded', () => {
    expect(open(NEW_GATE).action).toBe('grade');
    expect(open(NEW_GATE, { ...FACTS, base_matches: null }).action).toBe('grade');
  });
});

test('outcomes: flipped stays, a late PASS flips, no task and quiet ends', () => {
  const passed = stops('PENDING', 'PASS').gate;
  expect(outcomeOf(FACTS, passed, false)).toBe('flipped');
  expect(outcomeOf(null, NEW_GATE, false)).toBe('ungraded');
  expect(outcomeOf(null, NEW_GATE, true)).toBe('aborted');
  expect(outcomeOf(FACTS, NEW_GATE, false)).toBe('aborted');
  expect(outcomeOf(FACTS, stops('NO_TASK').gate, false)).toBe('no_task');
  expect(outcomeOf(FACTS, stops('FAIL', 'NO_TASK').gate, false)).toBe('no_flip');
  expect(outcomeOf(FACTS, { ...NEW_GATE, let_go: 'pending', fails: 2 }, false)).toBe('pending');
  expect(outcomeOf(FACTS, decideOpen(FACTS, NEW_GATE, { ungraded: 'plan_mode' }).gate, false)).toBe(
    'ungraded',
  );
});

test('an oracle that was not reached is asked the same again; one that answered ERROR is not', () => {
  expect(stop(NEW_GATE, 'ERROR', 0, false).gate.asked?.request_id).toBe('q');
  expect(stop(NEW_GATE, 'ERROR', 0, true).gate.asked).toBeNull();
});
