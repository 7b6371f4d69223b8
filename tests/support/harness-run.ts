/** Runs the real Codex, OpenCode, Gemini CLI and Copilot CLI with a home of their own, hooks by the real `init`, and a scripted model. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { writeHomeConfig } from '../../cli/init/home-config.ts';
import { readSettings } from '../../producers/settings.ts';
import { cacheFolder } from './cache-folder.ts';
import { runCommand } from './cli.ts';
import { harnessBinary } from './harness-binary.ts';
import type { Rig } from './rig.ts';
import { type ShellTool, startScriptedApi, type Turn } from './scripted-apis.ts';

export type HarnessName = 'codex' | 'opencode' | 'gemini' | 'copilot';

const NPM_CACHE = join(cacheFolder(), 'npm');

interface Setup {
  shell: ShellTool;
  /** Configuration by file, relative to the home; written before init. */
  files: (modelUrl: string) => Readonly<Record<string, string>>;
  args: (prompt: string) => readonly string[];
  env: (modelUrl: string) => NodeJS.ProcessEnv;
}

const SETUPS: Readonly<Record<HarnessName, Setup>> = {
  codex: {
    shell: { name: 'exec_command', input: (cmd) => ({ cmd }) },
    files: (url) => ({
      '.codex/config.toml': [
        'model = "scripted"',
        'model_provider = "scripted"',
        '[model_providers.scripted]',
        'name = "scripted"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'env_key = "SCRIPTED_KEY"',
        '',
      ].join('\n'),
    }),
    args: (prompt) => [
      ...['exec', '--dangerously-bypass-approvals-and-sandbox', '--dangerously-bypass-hook-trust', prompt],
    ],
    env: () => ({ SCRIPTED_KEY: 'none' }),
  },
  opencode: {
    shell: { name: 'bash', input: (command) => ({ command, description: 'run' }) },
    files: (url) => {
      const provider = {
        npm: '@ai-sdk/openai-compatible',
        name: 'scripted',
        options: { baseURL: `${url}/v1`, apiKey: 'none' },
        models: { model: { name: 'model' } },
      };
      const config = {
        ...{ provider: { scripted: provider }, model: 'scripted/model', small_model: 'scripted/model' },
        ...{ autoupdate: false, share: 'disabled' },
      };
      return { '.config/opencode/opencode.json': JSON.stringify(config) };
    },
    args: (prompt) => ['run', prompt],
    env: () => ({
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      // what it installs into each home (the types that plugins are written to) is fetched once
      npm_config_cache: NPM_CACHE,
      npm_config_prefer_offline: 'true',
    }),
  },
  gemini: {
    shell: { name: 'run_shell_command', input: (command) => ({ command, description: 'run' }) },
    files: () => ({
      '.gemini/settings.json': '{"security": {"auth": {"selectedType": "gemini-api-key"}}}\n',
    }),
    args: (prompt) => ['--yolo', '--skip-trust', '-m', 'gemini-2.5-pro', '-p', prompt],
    env: (url) => ({ GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url }),
  },
  copilot: {
    shell: { name: 'bash', input: (command) => ({ command, description: 'run' }) },
    files: () => ({}),
    args: (prompt) => ['--allow-all-tools', '--no-color', '-p', prompt],
    env: (url) => ({
      ...{
        COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
        COPILOT_PROVIDER_API_KEY: 'none',
        COPILOT_MODEL: 'gpt-4.1',
      },
      ...{ COPILOT_OFFLINE: 'true', COPILOT_AUTO_UPDATE: 'false' },
    }),
  },
};

export interface HarnessAgent {
  clone: string;
  home: string;
  env: NodeJS.ProcessEnv;
  /** Runs it on a prompt until it ends; turn n of the script answers request n. */
  run(prompt: string, script: readonly Turn[], options?: HarnessOptions): Promise<HarnessEnd>;
}

export interface HarnessOptions {
  env?: NodeJS.ProcessEnv;
  /** Instead of the harness's own command, whose last argument is the prompt: what is run is given that command. */
  through?: (command: readonly string[]) => readonly string[];
}

export interface HarnessEnd {
  /** What the harness sent to the model, in order. */
  requests: string[];
  output: string;
}

/** Makes a clone of the rig's task and a home in which our hooks are registered by `flipstream init`. */
export async function createHarnessAgent(
  rig: Rig,
  name: string,
  harness: HarnessName,
): Promise<HarnessAgent> {
  const setup = SETUPS[harness];
  const clone = await rig.clone(name);
  const home = join(rig.place.root, `home-${name}`);
  const env = { PATH: rig.env.PATH, HOME: home, FLIPSTREAM_HOME: rig.env.FLIPSTREAM_HOME };
  write(home, setup.files('http://127.0.0.1:9'));
  const oracle = { FLIPSTREAM_ORACLE_HOME: rig.env.FLIPSTREAM_ORACLE_HOME };
  const { code, err } = await runCommand(['init', harness, '--yes'], { ...env, ...oracle }, clone);
  expect({ code }, err).toEqual({ code: 0 });
  // a collector that a hook started would outlive the rig
  const { collector: _, ...rest } = readSettings(rig.config.home);
  writeHomeConfig(rig.config.home, rest);
  const binary = harnessBinary(harness) ?? harness;

  return {
    clone,
    home,
    env,
    async run(prompt, script, options = {}) {
      const model = await startScriptedApi(script, setup.shell);
      for (const [file, text] of Object.entries(setup.files(model.url)))
        if (text.includes(model.url)) write(home, { [file]: text });
      const command = [binary, ...setup.args(prompt)];
      const [program = '', ...args] = options.through?.(command) ?? command;
      const all = { ...env, ...setup.env(model.url), ...options.env };
      const { code, output } = await ended(program, args, clone, all);
      await model.close();
      expect({ code }, output).toEqual({ code: 0 });
      return { requests: model.requests, output };
    },
  };
}

function write(home: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), text);
  }
}

function ended(
  program: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8');
      });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}
