/** Runs of the real Claude Code that end badly, and parts of ours that are not there. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { BLOCK_REASON } from '../../schemas/grade.ts';
import { createAgent } from '../support/agent.ts';
import { eventsOf, expectChain, landed, outline, verified } from '../support/evidence.ts';
import { bash, failThenPass, fix, says } from '../support/replies.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { textOf } from '../support/scripted-model.ts';

/** Longer than a real session that is alive is ever silent, on a slow machine. */
const QUIET_MS = 20_000;

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ quietMs: QUIET_MS });
});
afterAll(async () => rig?.close());

async function appears(path: string): Promise<void> {
  await vi.waitFor(() => expect(existsSync(path)).toBe(true), { timeout: 60_000, interval: 20 });
}

/** What is in the chain when the harness was killed in the middle of a call. */
const CUT = ['session_start', 'message user', 'message assistant', 'notice call_started Bash'];

// Both wait at once for the quiet period.
test.concurrent.each([
  ['SIGKILL', true],
  ['SIGINT', false],
] as const)(
  'C7 %s in the middle of a tool call: it is interrupted, the session closed as aborted, and a resume opens it again',
  async (signal, synthetic) => {
    const agent = await createAgent(rig, `cut-by-${signal}`);
    const started = join(rig.place.root, `started-${signal}`);
    const script = [[says('This takes long.'), bash(`touch ${started}; sleep 60`)]];
    const run = await agent.start('Sleep.', script);
    await appears(started);
    run.child.kill(signal);
    const end = await run.ended();
    expect(end.signal).toBe(synthetic ? 'SIGKILL' : null);
    const { sessionId } = run;
    await landed(rig, sessionId, 'aborted');
    const cut = await expectChain(rig, sessionId);
    expect(outline(cut)).toEqual([...CUT, 'tool_call Bash interrupted', 'session_end']);
    expect(cut.slice(-2).map((event) => event.synthetic === true)).toEqual([true, synthetic]);
    expect(cut.at(-1)?.harness_event).toBe(synthetic ? null : 'SessionEnd');

    await agent.run('Go on.', [[says('I fix it.'), fix(agent.bill)], [says('Done.')]], {
      sessionId,
      args: ['--resume', sessionId],
    });
    await landed(rig, sessionId, 'flipped');
    const whole = await expectChain(rig, sessionId);
    expect(whole.slice(0, cut.length)).toEqual(cut);
    expect(outline(whole.slice(cut.length))).toEqual([
      'session_start',
      'message user',
      'message assistant',
      'notice call_started Edit',
      'tool_call Edit ok',
      'message assistant',
      'notice stop',
      'notice grade_requested',
      'oracle_verdict PASS',
      'session_end',
    ]);
    expect(await verified(rig, sessionId)).toMatchObject({ state: 'intact', flip: true, problems: [] });
  },
);

test('P1 no collector during the whole session: the gate holds once and says so, and nothing is lost', async () => {
  const off = await startRig({ roles: ['streams', 'sink', 'oracle'] });
  try {
    const agent = await createAgent(off, 'alone');
    const { sessionId, requests } = await agent.run('Fix it.', [
      [says('I look.'), bash('echo one'), bash('echo two')],
      [says('Done.')],
      [says('Held, but I am done.')],
    ]);
    expect(textOf(requests[2]?.messages.at(-1)?.content ?? '')).toContain(BLOCK_REASON);
    const waiting = join(off.config.home.spool, 'new');
    expect(readdirSync(waiting).length).toBeGreaterThan(10);
    expect(existsSync(off.config.home.collectorDb)).toBe(false);
    await off.startParts(['collector']);
    const row = await landed(off, sessionId, 'gate_error');
    expect(row).toMatchObject({ tool_calls: 2, messages: 4, gaps: 0 });
    const events = await expectChain(off, sessionId);
    expect(outline(events)).toEqual([
      'session_start',
      'message user',
      'message assistant',
      'notice call_started Bash',
      'notice call_started Bash',
      'tool_call Bash ok',
      'tool_call Bash ok',
      'message assistant',
      'notice stop',
      'notice gate_failed',
      'message assistant',
      'notice stop',
      'notice gate_error',
      'session_end',
    ]);
    expect(readdirSync(waiting)).toEqual([]);
    expect(await verified(off, sessionId)).toMatchObject({ state: 'unattested', flip: false, problems: [] });
  } finally {
    await off.close();
  }
});

test('P1 the collector dies in the middle of a session: the Stop waits for the next one, and the session flips', async () => {
  const agent = await createAgent(rig, 'killed');
  const started = join(rig.place.root, 'started-killed');
  const [look = [], ...rest] = failThenPass(agent.bill);
  const run = await agent.start('Fix it.', [[...look, bash(`touch ${started}; sleep 1`)], ...rest]);
  await appears(started);
  const pid = rig.supervisor.pids().collector;
  if (pid === undefined) throw new Error('no collector runs');
  process.kill(pid, 'SIGKILL');
  await run.ended();
  await landed(rig, run.sessionId, 'flipped');
  await expectChain(rig, run.sessionId);
  await pause(QUIET_MS + 1_000);
  const ends = (await eventsOf(rig, run.sessionId)).filter((event) => event.type === 'session_end');
  expect(ends).toHaveLength(1);
});
