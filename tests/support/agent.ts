/** An agent for one clone: the real Claude Code with a home of its own, hooks by the real `init` or the plugin, and a script. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { writeHomeConfig } from '../../cli/init/home-config.ts';
import { readSettings } from '../../producers/settings.ts';
import { type ClaudeEnd, type ClaudeRun, claudeCommand, startClaude } from './claude.ts';
import type { Rig } from './rig.ts';
import { type Block, type ModelRequest, startScriptedModel, textOf } from './scripted-model.ts';

export type Registration = 'settings' | 'http' | 'plugin' | 'plugin and settings' | 'plugin and http';

export interface AgentRun extends ClaudeRun {
  sessionId: string;
  /** What the harness sent to the model: the main conversation, and subagents'. */
  requests: ModelRequest[];
  subagent: ModelRequest[];
  /** Waits for the process, closes the model, and expects that the script was played to its end. */
  ended(): Promise<ClaudeEnd>;
}

export interface RunOptions {
  args?: readonly string[];
  env?: NodeJS.ProcessEnv;
  /** Replies to a subagent whose prompt contains SUBTASK. */
  subagent?: readonly Block[][];
  sessionId?: string;
  /** Told of request n (from 1) before it is answered, and which process asks. */
  onRequest?: (n: number, pid: number) => void;
}

export interface Agent {
  clone: string;
  home: string;
  /** The file of the demo's task that has the bug. */
  bill: string;
  /** Starts one run of the harness; reply n of the script answers request n. */
  start(prompt: string, script: readonly Block[][], options?: RunOptions): Promise<AgentRun>;
  /** As `start`, to its end. */
  run(prompt: string, script: readonly Block[][], options?: RunOptions): Promise<AgentRun & ClaudeEnd>;
}

/** Marks a subagent's prompt. */
export const SUBTASK = 'SUBTASK';

/** Makes a clone of the rig's task and a harness home whose hooks are registered as asked. */
export async function createAgent(
  rig: Rig,
  name: string,
  registration: Registration = 'settings',
): Promise<Agent> {
  const clone = await rig.clone(name);
  const home = join(rig.place.root, `claude-${name}`);
  await register(rig, home, clone, registration);

  async function start(
    prompt: string,
    script: readonly Block[][],
    options: RunOptions = {},
  ): Promise<AgentRun> {
    const requests: ModelRequest[] = [];
    const subagent: ModelRequest[] = [];
    const model = await startScriptedModel((request) => {
      const [first] = request.messages;
      const isSub = first !== undefined && textOf(first.content).includes(SUBTASK);
      const [seen, replies] = isSub ? [subagent, options.subagent ?? []] : [requests, script];
      seen.push(request);
      if (!isSub) options.onRequest?.(requests.length, run.child.pid ?? 0);
      return replies[seen.length - 1] ?? [{ type: 'text', text: `no reply ${seen.length} in the script` }];
    });
    const sessionId = options.sessionId ?? randomUUID();
    const own = options.sessionId === undefined ? ['--session-id', sessionId] : [];
    const run = startClaude(prompt, {
      cwd: clone,
      home,
      modelUrl: model.url,
      env: { ...rig.env, ...options.env },
      args: [...own, ...(options.args ?? [])],
    });
    const ended = async () => {
      const end = await run.done;
      await model.close();
      if (end.signal === null) {
        expect({ code: end.code, stderr: end.stderr }).toEqual({ code: 0, stderr: '' });
      }
      return end;
    };
    return { ...run, sessionId, requests, subagent, ended };
  }

  return {
    clone,
    home,
    bill: join(clone, 'src', 'bill.js'),
    start,
    run: async (prompt, script, options) => {
      const run = await start(prompt, script, options);
      const end = await run.ended();
      expect(run.requests.length, end.stdout).toBe(script.length);
      return { ...run, ...end };
    },
  };
}

async function register(rig: Rig, home: string, cwd: string, registration: Registration): Promise<void> {
  const options = { cwd, home, env: rig.env };
  if (registration.startsWith('plugin')) {
    const root = fileURLToPath(new URL('../..', import.meta.url));
    await claudeCommand(['plugin', 'marketplace', 'add', root], options);
    await claudeCommand(['plugin', 'install', 'flipstream@flipstream'], options);
  }
  if (registration === 'plugin') return;
  const settings = join(home, '.claude', 'settings.json');
  const http = registration.endsWith('http') ? ['--transport', 'http', '--force'] : [];
  const argv = ['init', 'claude-code', '--yes', '--settings', settings, ...http];
  const { code, err } = await rig.flipstream(argv);
  expect({ code, there: existsSync(settings) }, err).toEqual({ code: 0, there: true });
  // a collector that a hook started would outlive the rig
  const { collector: _, ...rest } = readSettings(rig.config.home);
  writeHomeConfig(rig.config.home, rest);
}
