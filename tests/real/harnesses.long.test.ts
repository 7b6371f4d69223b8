/** Five real harnesses through the same session; the same seven questions get the same answers, but for what none tells. */
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { writeHomeConfig } from '../../cli/init/home-config.ts';
import { importBench, toldTo } from '../../producers/import/testing.ts';
import { readSettings } from '../../producers/settings.ts';
import { BLOCK_REASON } from '../../schemas/block-reason.ts';
import { HARNESS_CAPABILITIES } from '../../schemas/harness-capabilities.ts';
import { createAgent } from '../support/agent.ts';
import { runCommand } from '../support/cli.ts';
import { expectChain, landed, outline, verified } from '../support/evidence.ts';
import { HARNESS_FOLDER, harnessBinary } from '../support/harness-binary.ts';
import { createHarnessAgent, type HarnessAgent, type HarnessName } from '../support/harness-run.ts';
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

/** Where the harness itself has written the session down. */
async function filesOf(agent: HarnessAgent, name: HarnessName): Promise<string> {
  if (name === 'codex') return join(agent.home, '.codex', 'sessions');
  if (name === 'gemini') return join(agent.home, '.gemini', 'tmp');
  const file = join(agent.home, 'export.json');
  const id = await sessionIn(agent.clone);
  const options = { cwd: agent.clone, env: agent.env, maxBuffer: 64 * 2 ** 20 };
  const { stdout } = await promisify(execFile)(harnessBinary(name) ?? name, ['export', id], options);
  writeFileSync(file, stdout);
  return file;
}

/** The harness's own file of the session imports whole, and where the session was captured it is known to be there. */
async function imports(path: string, format: string) {
  const bench = importBench();
  const report = await bench.run(path);
  const told = toldTo(bench);
  bench.remove();
  expect(report.reasons).toEqual({});
  expect(report.formats[format]).toMatchObject({ sessions: 1, tool_calls: 3 });
  expect(told).toContain(`user ${PROMPT}`);
  expect(told).toContain('assistant Now it is right.');
  const own = await rig.flipstream(['import', path, '--json']);
  expect(own.json()).toMatchObject({ formats: { [format]: { events: 0, captured: expect.any(Number) } } });
}

test.each<HarnessName>(['codex', 'opencode', 'gemini', 'copilot'])(
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
    if (name !== 'copilot') await imports(await filesOf(agent, name), name);
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
  await imports(join(agent.home, '.claude', 'projects'), 'claude-code');
});

test('C4 copilot, and Claude Code’s settings in a project that it trusts: every hook runs twice, and the same is true', async () => {
  const agent = await createHarnessAgent(rig, 'twice-copilot', 'copilot');
  const oracle = { FLIPSTREAM_ORACLE_HOME: rig.env.FLIPSTREAM_ORACLE_HOME };
  const settings = join(agent.clone, '.claude', 'settings.json');
  const argv = ['init', 'claude-code', '--yes', '--settings', settings];
  expect(await runCommand(argv, { ...agent.env, ...oracle }, agent.clone)).toMatchObject({ code: 0 });
  const { collector: _, ...rest } = readSettings(rig.config.home);
  writeHomeConfig(rig.config.home, rest);
  writeFileSync(join(agent.clone, '.git', 'info', 'exclude'), '.claude/\n');
  writeFileSync(
    join(agent.home, '.copilot', 'config.json'),
    JSON.stringify({ trustedFolders: [agent.clone] }),
  );
  await agent.run(PROMPT, SCRIPT);
  await holds(agent.clone, 'copilot');
  // only Claude Code's registration asks for these
  const asked = await rig.sql(
    `SELECT kind FROM events WHERE session_id = '${await sessionIn(agent.clone)}' AND kind = 'permission_request'`,
  );
  expect(asked).not.toEqual([]);
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
