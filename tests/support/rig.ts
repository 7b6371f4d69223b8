/** A whole installation in a temporary folder: the demo's task, an oracle, and the parts of `flipstream up` as processes. */
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { partOf } from '../../cli/commands/up.ts';
import { type Config, loadConfig } from '../../cli/config.ts';
import { layOut, type Workspace } from '../../cli/demo/workspace.ts';
import { writeHomeConfig } from '../../cli/init/home-config.ts';
import { freePort, prepare } from '../../cli/init/prepare.ts';
import { ROLES, type Role } from '../../cli/up/roles.ts';
import { type Supervisor, supervise } from '../../cli/up/supervise.ts';
import { openOracle } from '../../oracle/oracle.ts';
import { taskAdd } from '../../oracle/tasks/add.ts';
import { taskCheck } from '../../oracle/tasks/check.ts';
import { readSettings } from '../../producers/settings.ts';
import { taskStart } from '../../producers/task-start.ts';
import { openReader, type Reader } from '../../warehouse/query.ts';
import { type Ran, runCommand } from './cli.ts';

export type Row = Record<string, unknown>;

export interface Rig {
  place: Workspace;
  config: Readonly<Config>;
  /** Environment for hooks and harnesses: ours, with the homes of the rig. */
  env: NodeJS.ProcessEnv;
  supervisor: Supervisor;
  /** Starts parts that were left out. */
  startParts(roles: readonly Role[]): Promise<void>;
  /** Runs a command line of ours. */
  flipstream(argv: readonly string[]): Promise<Ran>;
  /** A fresh clone of the demo's task for one agent. */
  clone(name: string): Promise<string>;
  sql(text: string): Promise<Row[]>;
  close(): Promise<void>;
}

export interface RigOptions {
  transport?: 'command' | 'http';
  bucketMs?: number;
  /** Which parts run from the beginning; default: all. */
  roles?: readonly Role[];
  /** Milliseconds without an event after which a session is closed; default: an hour. */
  quietMs?: number;
  /** More environment for the parts and for our commands: where the log is, say. */
  env?: NodeJS.ProcessEnv;
  /** Changes what was laid out, before anything is made of it: another task, another kind of oracle. */
  arrange?: (place: Workspace) => void;
}

/** Starts everything and resolves when all of it is ready. */
export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const { transport = 'command', bucketMs = 50, roles = ROLES, quietMs } = options;
  const root = mkdtempSync(join(tmpdir(), 'flipstream-rig-'));
  const place = layOut(loadConfig(process.env, { home: root }, root));
  const { config } = place;
  options.arrange?.(place);
  const env = {
    ...process.env,
    ...options.env,
    FLIPSTREAM_HOME: config.home.root,
    FLIPSTREAM_ORACLE_HOME: config.oracleHome.root,
  };
  const port = transport === 'http' ? await freePort() : 0;
  const { settings } = await prepare(config, {
    transport,
    rotate: false,
    oracle: null,
    port,
    startsCollector: false,
  });
  if (quietMs !== undefined) writeHomeConfig(config.home, { ...settings, quiet_ms: quietMs });
  await readyTask(place);
  const logs = join(place.root, 'logs');
  mkdirSync(logs, { recursive: true });
  const log = join(logs, 'up.log');
  const logger = pino(pino.destination({ dest: log, sync: true }));
  const stderr = openSync(log, 'a');
  const start = (names: readonly Role[]) => {
    const parts = names.map((role) => partOf(role, config.home.root, config.oracleHome.root, { bucketMs }));
    return supervise(parts, env, logger, stderr);
  };
  const supervisor = start(roles);
  const more: Supervisor[] = [];
  let reader: Promise<Reader> | undefined;
  await supervisor.ready;
  return {
    place,
    config,
    env,
    supervisor,
    startParts: async (names) => {
      const added = start(names);
      more.push(added);
      await added.ready;
    },
    flipstream: (argv) => runCommand(argv, env, root),
    clone: async (name) => {
      const { oracle } = readSettings(config.home);
      if (!oracle) throw new Error('the rig has no oracle');
      const directory = join(place.root, name);
      await taskStart({
        taskId: 'demo-split-bill',
        directory,
        oracle,
        home: config.home,
        clock: Date.now,
        path: process.env.PATH,
      });
      return directory;
    },
    sql: async (text) => {
      reader ??= openReader(config.home.warehouse);
      const { columns, rows } = await (await reader).query(text);
      return rows.map((row) => Object.fromEntries(columns.map((column, at) => [column.name, row[at]])));
    },
    close: async () => {
      await Promise.all([supervisor, ...more].map((each) => each.stop()));
      (await reader)?.close();
      closeSync(stderr);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function readyTask(place: Workspace): Promise<void> {
  const oracle = openOracle({ home: place.config.oracleHome });
  try {
    const { task_id } = await taskAdd(oracle, place.task);
    const { status, reason } = (await taskCheck(oracle, task_id)).row;
    if (status !== 'ready') throw new Error(`the rig's task is ${status}: ${reason}`);
  } finally {
    oracle.close();
  }
}
