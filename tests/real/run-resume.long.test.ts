/** `flipstream run` around real harnesses whose stop nothing refuses: held, each goes on in the session that it had. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { BLOCK_REASON } from '../../schemas/block-reason.ts';
import { createAgent } from '../support/agent.ts';
import { ALLOWED_TOOLS, environment } from '../support/claude.ts';
import { expectChain, landed, verified } from '../support/evidence.ts';
import { claudeBinary } from '../support/harness-binary.ts';
import { createHarnessAgent, type HarnessName } from '../support/harness-run.ts';
import { PROMPT, SCRIPT } from '../support/questions.ts';
import { bash, says } from '../support/replies.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { startScriptedModel } from '../support/scripted-model.ts';

const MAIN = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
const run = (command: readonly string[]) => [process.execPath, MAIN, 'run', '--json', '--', ...command];
const Ran = z.object({
  run_id: z.string(),
  attempts: z.number(),
  held: z.boolean(),
  session_id: z.string(),
});

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => rig?.close());

/** What asks the gate when the agent stops is taken out of what `init` registered: as if the harness had no such hook. */
function withoutStop(file: string, event: string): void {
  const settings = z
    .looseObject({ hooks: z.record(z.string(), z.unknown()) })
    .parse(JSON.parse(readFileSync(file, 'utf8')));
  expect(settings.hooks).toHaveProperty(event);
  delete settings.hooks[event];
  writeFileSync(file, JSON.stringify(settings));
}

const DISARM: Readonly<Record<HarnessName, (home: string) => void>> = {
  codex: (home) => withoutStop(join(home, '.codex', 'hooks.json'), 'Stop'),
  gemini: (home) => withoutStop(join(home, '.gemini', 'settings.json'), 'AfterAgent'),
  copilot: (home) => withoutStop(join(home, '.copilot', 'hooks', 'flipstream.json'), 'Stop'),
  opencode(home) {
    const file = join(home, '.config', 'opencode', 'plugins', 'flipstream.js');
    const text = readFileSync(file, 'utf8');
    const without = text.replace(`'session.idle': ({ sessionID }) => idle(sessionID),`, '');
    expect(without).not.toBe(text);
    writeFileSync(file, without);
  },
};

/** @param output holds the run's own document @param requests what the model was asked, in order */
async function holds(harness: string, output: string, requests: readonly string[]): Promise<void> {
  const { attempts, held, run_id, session_id } = Ran.parse(
    JSON.parse(/^\{\s+"run_id"[\s\S]+?^\}/m.exec(output)?.[0] ?? output),
  );
  expect({ attempts, held }).toEqual({ attempts: 2, held: false });
  expect(requests).toHaveLength(SCRIPT.length);
  // the second attempt's first request: what was said before, and the sentence that every agent gets
  expect(requests[3]).toContain('I am done.');
  expect(requests[3]).toContain(BLOCK_REASON);
  const row = await landed(rig, session_id, 'flipped');
  expect(row).toMatchObject({ harness, attempts: 2, tool_calls: 3, gaps: 0 });
  const starts = (await expectChain(rig, session_id)).filter(({ type }) => type === 'session_start');
  expect(starts.map((event) => [event.run_id, event.original_id])).toEqual([
    [run_id, null],
    [run_id, null],
  ]);
  expect(await verified(rig, session_id)).toMatchObject({ state: 'intact', flip: true, problems: [] });
}

test.each<HarnessName>(['codex', 'opencode', 'gemini', 'copilot'])(
  '%s is resumed in the same session',
  async (name) => {
    const agent = await createHarnessAgent(rig, `resume-${name}`, name);
    DISARM[name](agent.home);
    const { requests, output } = await agent.run(PROMPT, SCRIPT, { through: run });
    await holds(name, output, requests);
  },
);

test('claude-code is resumed in the same session', async () => {
  const { home, clone } = await createAgent(rig, 'resume-claude');
  withoutStop(join(home, '.claude', 'settings.json'), 'Stop');
  const replies = SCRIPT.map(({ text, command }) => [says(text), ...(command ? [bash(command)] : [])]);
  const requests: string[] = [];
  const model = await startScriptedModel((request) => {
    requests.push(JSON.stringify(request.messages));
    return replies[requests.length - 1] ?? [says('The script is over.')];
  });
  const env = { ...environment(home, rig.env), ANTHROPIC_BASE_URL: model.url };
  const [program = '', ...args] = run([
    claudeBinary() ?? 'claude',
    '--allowedTools',
    ALLOWED_TOOLS,
    '-p',
    PROMPT,
  ]);
  const child = promisify(execFile)(program, args, { cwd: clone, env });
  child.child.stdin?.end();
  const { stdout } = await child;
  await model.close();
  await holds('claude-code', stdout, requests);
});
