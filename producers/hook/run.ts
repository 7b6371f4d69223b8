import type { Moment } from '../adapters/adapter.ts';
import { flag, own, type Payload, text } from '../adapters/payload.ts';
import {
  type CaptureContext,
  captureHeard,
  captureNotice,
  captureTooLarge,
  type Heard,
  hear,
} from '../capture.ts';
import { readPlainFile } from '../git/plain-file.ts';
import { isSilenced } from '../silence.ts';
import { countLoss } from '../spool/losses.ts';
import { openKeysIn } from '../spool/pieces.ts';
import { prepareSpool } from '../spool/prepare.ts';
import { type Disk, putEntry, realDisk } from '../spool/put.ts';
import type { HookEnvironment } from './env.ts';
import { type Hash, keyedHasher, streamHasher } from './hash.ts';
import { readHookSettings } from './hook-settings.ts';
import { ensureCollector, startCollector } from './start-collector.ts';
import type { Input, InputOptions } from './stdin.ts';

export interface HookIo {
  environment: HookEnvironment;
  argv: readonly string[];
  /** Where the harness runs us; null when that folder is gone. */
  cwd: () => string | null;
  /** Reads the payload (stdin.ts). */
  read: (options: InputOptions) => Promise<Input>;
  /** What the harness is to read. */
  print: (text: string) => void;
  /** Milliseconds since 1970, with a fraction. */
  now: () => number;
  /** When the harness started us: the time of capture. */
  startedAt: number;
  /** Told once the event is known, so that whoever watches the time knows how much there is. */
  budget?: (ms: number) => void;
  disk?: Disk;
  inputLimit?: number;
}

const INPUT_LIMIT = 64 * 1024 * 1024;
const IDLE_MS = 3_000;
const RULES_LIMIT = 1024 * 1024;
const BUDGET_MS = 8_000;
/** Of the 600 s that a stop's hook is given, and of the 1.5 s that all of Claude Code's hooks of a session's end share. */
const BUDGETS_MS: Readonly<Record<Moment, number>> = { start: BUDGET_MS, stop: 560_000, end: 1_200 };

/** One call of the hook: one payload into the spool, and at a stop the gate's decision. May throw; main.ts sees to it. */
export async function runHook(io: HookIo): Promise<void> {
  const { environment, now, disk = realDisk } = io;
  const { home } = environment;
  const input = await io.read({
    limit: io.inputLimit ?? INPUT_LIMIT,
    idleMs: IDLE_MS,
    hasher: () => streamHasher(home),
  });
  if (environment.off || isSilenced(home, null)) return;
  let context: CaptureContext;
  try {
    context = contextOf(io, keyedHasher(home));
  } catch {
    countLoss(home); // no key and no room to make one: nothing may be written without its hash
    return;
  }
  if (input.kind === 'too_large') {
    const entry = captureTooLarge(input, context);
    if (entry) putEntry(home, entry, io.startedAt, disk);
    return;
  }
  const heard = inRun(hear(input.bytes), environment);
  const { adapter, payload } = heard;
  const moment = adapter && payload ? adapter.moment(payload) : null;
  io.budget?.(moment === null ? BUDGET_MS : BUDGETS_MS[moment]);
  const start = payload && moment === 'start' ? await startFacts(io, heard, payload) : null;
  const entry = captureHeard(heard, start ? { ...context, facts: start.fields } : context);
  if (!entry) return;
  putEntry(home, entry, io.startedAt, disk);
  // at these moments a collector that died is started again
  if (!adapter || !payload || moment === null) return;
  if (moment === 'stop' && heard.agentId === null) {
    const note = (kind: string, reason: string) =>
      void putEntry(home, captureNotice(heard, kind, reason, { ...context, clock: now }), now(), disk);
    const held = await gate(io, heard, payload, note);
    if (held && adapter.hold) io.print(adapter.hold.print(payload));
    return;
  }
  if (start && adapter.showsMessage) io.print(start.output);
  await ensureCollector(home, environment.all);
}

/** Attempts of a run that the harness cannot resume are one session all the same: so one chain, and one budget. */
function inRun(heard: Heard, { run }: HookEnvironment): Heard {
  const session = run?.session;
  return session && heard.adapter?.harness === session.harness ? { ...heard, sessionId: session.id } : heard;
}

function contextOf(io: HookIo, hash: Hash): CaptureContext {
  const { home } = io.environment;
  return {
    hash,
    limit: readHookSettings(home).fieldLimit,
    clock: () => io.startedAt,
    registration: option(io.argv, '--registration')?.slice(0, 64) ?? 'settings',
    transport: 'command',
    openKeys: openKeysIn(home, hash),
    agent: io.environment.agent,
    readRules: (path) => readPlainFile(path, RULES_LIMIT)?.toString('utf8') ?? null,
    // a payload that does not say where it comes from comes from where the harness runs us
    silenced: (source) => isSilenced(home, { ...source, cwd: source.cwd ?? io.cwd() }),
  };
}

/** Git's facts of the place, when it is to be recorded at all. Loaded here and not before: no other event pays for it. */
async function startFacts({ environment }: HookIo, heard: Heard, payload: Payload) {
  if (heard.cwd === null || isSilenced(environment.home, heard)) return null;
  const { home, path, folders, run } = environment;
  try {
    prepareSpool(home);
    const { sessionStartFacts, sessionStartOutput } = await import('../session-start.ts');
    const { cwd, sessionId } = heard;
    const source = text(payload, 'source');
    const start = await sessionStartFacts({ cwd, home, path, sessionId, source, folders });
    if (!run) return { fields: start.fields, output: sessionStartOutput(start) };
    const { runFacts } = await import('./run-facts.ts');
    return {
      fields: { ...start.fields, ...runFacts(home, run, heard) },
      output: sessionStartOutput(start),
    };
  } catch {
    return null;
  }
}

async function gate(
  { environment }: HookIo,
  heard: Heard,
  payload: Payload,
  note: (kind: string, reason: string) => void,
): Promise<string> {
  const { home, path, all } = environment;
  const { runGate } = await import('../gate/gate.ts');
  const event = {
    session_id: heard.sessionId,
    agent_id: heard.agentId,
    cwd: heard.cwd ?? '',
    stop_hook_active: flag(payload, 'stop_hook_active'),
    permission_mode: text(payload, 'permission_mode') ?? null,
    background_tasks: own(payload, 'background_tasks'),
  };
  const waits = readHookSettings(home).collector === null ? { startWaitMs: 0 } : {};
  return runGate(event, { home, path, startCollector: () => startCollector(home, all), note, ...waits });
}

/** What follows a flag. */
export function option(argv: readonly string[], flagName: string): string | undefined {
  const at = argv.indexOf(flagName);
  return at < 0 ? undefined : argv[at + 1];
}
