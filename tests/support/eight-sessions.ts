/** Eight sessions of four real harnesses at once, each with words that no other has: all flip, and nothing of one is in another. */
import { expect, vi } from 'vitest';
import { createAgent } from './agent.ts';
import { expectChain, landed } from './evidence.ts';
import { createHarnessAgent, type HarnessName } from './harness-run.ts';
import { SCRIPT } from './questions.ts';
import { bash, says } from './replies.ts';
import type { Rig } from './rig.ts';

interface Ran {
  rig: Rig;
  harness: string;
  clone: string;
  mark: string;
}

/** The script, with a command in it that nobody else runs. */
const marked = (mark: string) =>
  SCRIPT.map((turn, at) => (at === 0 ? { ...turn, command: `${turn.command}; echo ${mark}` } : turn));

async function other(rig: Rig, harness: HarnessName, n: number): Promise<Ran> {
  const mark = `only-${harness}-${n}`;
  const agent = await createHarnessAgent(rig, `once-${harness}-${n}`, harness);
  await agent.run(`Fix-it-${mark}.`, marked(mark));
  return { rig, harness, clone: agent.clone, mark };
}

async function claude(rig: Rig, n: number): Promise<Ran> {
  const mark = `only-claude-code-${n}`;
  const agent = await createAgent(rig, `once-claude-${n}`);
  const script = marked(mark).map(({ text, command }) => [says(text), ...(command ? [bash(command)] : [])]);
  await agent.run(`Fix-it-${mark}.`, script);
  return { rig, harness: 'claude-code', clone: agent.clone, mark };
}

/**
 * @param rigs one for each of the two sessions of every harness
 * @param sql of the warehouse where all of them land
 */
export async function eightAtOnce(rigs: readonly [Rig, Rig], sql: Rig['sql']): Promise<void> {
  const ran = await Promise.all(
    rigs.flatMap((rig, n) => [
      claude(rig, n),
      ...(['codex', 'opencode', 'gemini'] as const).map((harness) => other(rig, harness, n)),
    ]),
  );
  const sessions = await vi.waitFor(
    async () => {
      const rows = await sql(`SELECT DISTINCT session_id, cwd FROM events WHERE type = 'session_start'`);
      expect(rows).toHaveLength(ran.length);
      return rows;
    },
    { timeout: 120_000, interval: 500 },
  );
  for (const { rig, harness, clone, mark } of ran) {
    const at = { ...rig, sql };
    const id = String(sessions.find(({ cwd }) => cwd === clone)?.session_id);
    expect(await landed(at, id, 'flipped')).toMatchObject({ harness, attempts: 2, gaps: 0 });
    const text = JSON.stringify(await expectChain(at, id));
    expect(text).toContain(mark);
    for (const one of ran.filter((each) => each.clone !== clone)) {
      expect(text, `${one.mark} in ${mark}`).not.toContain(one.mark);
      expect(text).not.toContain(`${one.clone}"`);
    }
  }
}
