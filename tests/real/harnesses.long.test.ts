/** Four real harnesses through the same session; the same seven questions get the same answers, but for what none tells. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { BLOCK_REASON } from '../../schemas/block-reason.ts';
import { HARNESS_CAPABILITIES } from '../../schemas/harness-capabilities.ts';
import { createAgent } from '../support/agent.ts';
import { runCommand } from '../support/cli.ts';
import { expectChain, landed, outline, verified } from '../support/evidence.ts';
import { HARNESS_FOLDER } from '../support/harness-binary.ts';
import { createHarnessAgent, type HarnessName } from '../support/harness-run.ts';
import { answers, expected, PROMPT, SCRIPT } from '../support/questions.ts';
import { bash, says } from '../support/replies.ts';
import { type Rig, startRig } from '../support/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => rig?.close());

/** The session of a clone, once it is over and has landed. */
async function sessionIn(clone: string): Promise<string> {
  return vi.waitFor(
    async () => {
      const rows = await rig.sql(
        `SELECT DISTINCT session_id FROM events WHERE type = 'session_start' AND cwd = '${clone}'`,
      );
      expect(rows).toHaveLength(1);
      return String(rows[0]?.session_id);
    },
    { timeout: 60_000, interval: 200 },
  );
}

async function holds(clone: string, harness: string) {
  const id = await sessionIn(clone);
  const row = await landed(rig, id, 'flipped');
  expect(row).toMatchObject({ harness, gaps: 0, marks: expect.not.arrayContaining(['inherited', 'fork']) });
  const gives = HARNESS_CAPABILITIES.find((one) => one.harness === harness)?.gives;
  if (!gives) throw new Error(`no row of ${harness}`);
  const events = await expectChain(rig, id);
  expect(await answers(rig, id), outline(events).join('\n')).toEqual(
    expected({ ...gives, ...inPrintMode(harness) }),
  );
  expect(events.filter((event) => event.harness !== harness)).toEqual([]);
  expect(await verified(rig, id)).toMatchObject({ state: 'intact', flip: true, problems: [] });
}

/** Claude Code names its model only to a person's session. */
const inPrintMode = (harness: string) => (harness === 'claude-code' ? ({ model: 'no' } as const) : {});

test.each<HarnessName>(['codex', 'opencode', 'gemini'])(
  '%s: a failed call, a refused stop, a flip',
  async (name) => {
    const agent = await createHarnessAgent(rig, `flips-${name}`, name);
    const { requests, output } = await agent.run(PROMPT, SCRIPT);
    expect(requests.length, output).toBe(SCRIPT.length);
    // it was held by the constant sentence and nothing else
    expect(requests[3]).toContain(BLOCK_REASON);
    const words = requests.map((request) => request.split('FAIL').length); // its own texts may have the word
    expect(new Set(words).size).toBe(1);
    await holds(agent.clone, name);
  },
);

test('claude-code: the same', async () => {
  const agent = await createAgent(rig, 'flips-claude');
  const script = SCRIPT.map(({ text, command }) => [
    says(text),
    ...(command === undefined ? [] : [bash(command)]),
  ]);
  await agent.run(PROMPT, script);
  await holds(agent.clone, 'claude-code');
});

const Findings = z.object({
  findings: z.array(z.looseObject({ check: z.string(), state: z.string(), message: z.string() })),
});

test('doctor: Codex is here and connected, and does not trust our hooks until somebody says so', async () => {
  const agent = await createHarnessAgent(rig, 'trust', 'codex');
  const env = { ...agent.env, PATH: `${join(HARNESS_FOLDER, 'node_modules', '.bin')}:${agent.env.PATH}` };
  const { findings } = Findings.parse((await runCommand(['doctor', '--json'], env, agent.clone)).json());
  const of = (check: string) => findings.find((finding) => finding.check === check);
  expect(of('codex')).toMatchObject({
    state: 'ok',
    message: expect.stringContaining('0.171.0 is connected'),
  });
  expect(of('codex-trust')).toMatchObject({ state: 'problem', message: expect.stringContaining('stop') });
  expect(of('gemini')).toMatchObject({ message: expect.stringContaining('not connected') });
});
