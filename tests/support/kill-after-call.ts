/** Kills the real Claude Code the moment it asks the model for what comes after a tool call, and says what of that call is in the spool. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { SpoolEntry } from '../../producers/draft.ts';
import type { Agent } from './agent.ts';
import { bash, says } from './replies.ts';
import type { Rig } from './rig.ts';

/** What decides, starts or ends; the rest could be asynchronous if anything could. */
const NEVER_ASYNC: ReadonlySet<string> = new Set(['SessionStart', 'Stop', 'SessionEnd']);
const Settings = z.looseObject({
  hooks: z.record(z.string(), z.array(z.looseObject({ hooks: z.array(z.looseObject({})) }))),
});

/** Of every hook of ours but those that decide, start or end. */
function changeHooks(agent: Agent, change: (handler: Record<string, unknown>) => void): void {
  const file = join(agent.home, '.claude', 'settings.json');
  const settings = Settings.parse(JSON.parse(readFileSync(file, 'utf8')));
  for (const [event, groups] of Object.entries(settings.hooks)) {
    if (NEVER_ASYNC.has(event)) continue;
    for (const group of groups) group.hooks.forEach(change);
  }
  writeFileSync(file, JSON.stringify(settings));
}

/** Hooks as slow as on a machine that is busy, so that whether they are waited for shows every time. */
export function makeSlow(agent: Agent): void {
  changeHooks(agent, (handler) => {
    handler.command = `sleep 2; ${handler.command}`;
  });
}

/** Marks hooks `async: true`. */
export function makeAsync(agent: Agent): void {
  changeHooks(agent, (handler) => {
    handler.async = true;
  });
}

/** What the harness must have told by the time it sends a call's result to the model. */
const EXPECTED = ['UserPromptSubmit', 'MessageDisplay', 'PreToolUse', 'PostToolUse', 'PostToolBatch'];

export interface Killed {
  /** Names of the events that are not in the spool, long after the kill. */
  lost: string[];
  /** Milliseconds from the model's call to the harness's next request. */
  tookMs: number;
}

/** One run that ends as if the container had gone: the harness and all that it has started die at once. */
export async function killAfterCall(rig: Rig, agent: Agent): Promise<Killed> {
  const spool = join(rig.config.home.spool, 'new');
  for (const name of readdirSync(spool)) rmSync(join(spool, name));
  const at: number[] = [];
  const run = await agent.start('Go.', [[says('I call.'), bash('echo called')]], {
    onRequest: (n, pid) => {
      at.push(performance.now());
      if (n === 2) killTree(pid);
    },
  });
  await run.ended();
  await pause(500);
  const told = readdirSync(spool).map((name) =>
    SpoolEntry.parse(JSON.parse(readFileSync(join(spool, name), 'utf8'))),
  );
  const events = told
    .filter((entry) => entry.session_id === run.sessionId)
    .map((entry) => entry.harness_event);
  const [asked = 0, again = 0] = at;
  return { lost: EXPECTED.filter((event) => !events.includes(event)), tookMs: again - asked };
}

/** The harness is held first, so that it starts nothing more while its children are looked up. */
function killTree(pid: number): void {
  process.kill(pid, 'SIGSTOP');
  const table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const pairs = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const tree = [pid];
  for (const parent of tree) {
    for (const [child = 0, of = 0] of pairs) if (of === parent) tree.push(child);
  }
  for (const one of tree) {
    try {
      process.kill(one, 'SIGKILL');
    } catch {
      // it was gone already
    }
  }
}
