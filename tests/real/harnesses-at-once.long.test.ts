/** Eight sessions of four harnesses at once on one machine: all flip, and nothing of one is in another. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createAgent } from '../support/agent.ts';
import { expectChain, landed } from '../support/evidence.ts';
import { createHarnessAgent, type HarnessName } from '../support/harness-run.ts';
import { SCRIPT } from '../support/questions.ts';
import { bash, says } from '../support/replies.ts';
import { type Rig, startRig } from '../support/rig.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => rig?.close());

interface Ran {
  harness: string;
  clone: string;
  mark: string;
}

/** The script, with a command in it that nobody else runs. */
const marked = (mark: string) =>
  SCRIPT.map((turn, at) => (at === 0 ? { ...turn, command: `${turn.command}; echo ${mark}` } : turn));

async function other(harness: HarnessName, n: number): Promise<Ran> {
  const mark = `only-${harness}-${n}`;
  const agent = await createHarnessAgent(rig, `once-${harness}-${n}`, harness);
  await agent.run(`Fix-it-${mark}.`, marked(mark));
  return { harness, clone: agent.clone, mark };
}

async function claude(n: number): Promise<Ran> {
  const mark = `only-claude-code-${n}`;
  const agent = await createAgent(rig, `once-claude-${n}`);
  const script = marked(mark).map(({ text, command }) => [says(text), ...(command ? [bash(command)] : [])]);
  await agent.run(`Fix-it-${mark}.`, script);
  return { harness: 'claude-code', clone: agent.clone, mark };
}

/** Eight harnesses start thousands of processes between them. */
const LONG_MS = 1_500_000;

test('eight sessions of four harnesses at once: nothing mixed', { timeout: LONG_MS }, async () => {
  const both = [1, 2];
  const ran = await Promise.all([
    ...both.map(claude),
    ...both.map((n) => other('codex', n)),
    ...both.map((n) => other('opencode', n)),
    ...both.map((n) => other('gemini', n)),
  ]);
  const sessions = await vi.waitFor(
    async () => {
      const rows = await rig.sql(`SELECT DISTINCT session_id, cwd FROM events WHERE type = 'session_start'`);
      expect(rows).toHaveLength(ran.length);
      return rows;
    },
    { timeout: 120_000, interval: 500 },
  );
  for (const { harness, clone, mark } of ran) {
    const id = String(sessions.find(({ cwd }) => cwd === clone)?.session_id);
    expect(await landed(rig, id, 'flipped')).toMatchObject({ harness, attempts: 2, gaps: 0 });
    const text = JSON.stringify(await expectChain(rig, id));
    expect(text).toContain(mark);
    for (const one of ran.filter((each) => each.clone !== clone)) {
      expect(text, `${one.mark} in ${mark}`).not.toContain(one.mark);
      expect(text).not.toContain(`${one.clone}"`);
    }
  }
});
