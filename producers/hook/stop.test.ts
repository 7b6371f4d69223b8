import { afterEach, beforeEach, expect, test } from 'vitest';
import { BLOCK_REASON } from '../../schemas/block-reason.ts';
import { chooseAdapter } from '../adapters/choose.ts';
import { payloadsOf } from '../adapters/sample-payloads.ts';
import { BLOCK_OUTPUT } from '../gate/gate.ts';
import { rememberSession } from '../gate/session-file.ts';
import { hookProcess, type Place, type Ran, spooled, temporaryHome } from './testing.ts';

let place: Place;
beforeEach(() => {
  place = temporaryHome();
});
afterEach(() => place.remove());

const stop = () =>
  hookProcess(place.home, JSON.stringify({ session_id: 's1', cwd: place.root, hook_event_name: 'Stop' }));

test('the gate’s block is the only thing a Stop prints; a gate that fails blocks once, and says so in the record', async () => {
  rememberSession(place.home, 's1', {
    task_id: 'task-1',
    base_commit: 'b'.repeat(40),
    worktree: place.root,
    base_matches: true,
  });
  expect(await stop()).toMatchObject({ code: 0, stdout: BLOCK_OUTPUT, stderr: '' });
  expect(await stop()).toMatchObject({ code: 0, stdout: '', stderr: '' });
  const kinds = spooled(place.home).map((entry) => entry.drafts.at(-1)?.fields.kind);
  expect(kinds).toEqual(['stop', 'gate_failed', 'stop', 'gate_error']);
});

test('a session without a task is never held', async () => {
  rememberSession(place.home, 's1', { task_id: null, base_commit: null, worktree: null, base_matches: null });
  expect(await stop()).toMatchObject({ code: 0, stdout: '', stderr: '' });
  expect(spooled(place.home)).toHaveLength(1);
});

/** Runs the hook on a recorded stop, of the agent itself or of a subagent, in a session that has a task. */
function recordedStop(harness: string, ofSubagent: boolean): Promise<Ran> {
  const payload = payloadsOf(harness).find((one) => {
    const adapter = chooseAdapter(one);
    return adapter.moment(one) === 'stop' && (adapter.agentId(one) !== undefined) === ofSubagent;
  });
  if (!payload) throw new Error(`no stop of ${harness}`);
  rememberSession(place.home, chooseAdapter(payload).sessionId(payload) ?? '', {
    ...{ task_id: 'task-1', base_commit: 'b'.repeat(40), worktree: place.root, base_matches: true },
  });
  return hookProcess(place.home, JSON.stringify(payload));
}

const block = { decision: 'block', reason: BLOCK_REASON };

/** As each harness reads it; OpenCode's reader is our own plugin. */
test.each([
  ['claude-code', block],
  ['codex', block],
  ['opencode', block],
  ['gemini', block],
  ['cursor', { followup_message: BLOCK_REASON }],
  ['copilot', block],
  // of a decision it knows `allow` and `deny` (openhands/sdk/hooks/executor.py, August 2026)
  ['openhands', { decision: 'deny', reason: BLOCK_REASON }],
])('%s is held in the words that it understands', async (harness, answer) => {
  const { code, stdout } = await recordedStop(harness, false);
  expect({ code, said: JSON.parse(stdout) }).toEqual({ code: 0, said: answer });
});

test('a subagent of Copilot stops when it likes, under its parent’s session', async () => {
  expect(await recordedStop('copilot', true)).toMatchObject({ code: 0, stdout: '' });
});
