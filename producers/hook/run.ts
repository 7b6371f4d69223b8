import { flag, own, type Payload, text } from '../adapters/payload.ts';
import {
  type CaptureContext,
  captureHeard,
  captureNotice,
  captureTooLarge,
  type Heard,
  hear,
} from '../capture.ts';
import type { SpoolEntry } from '../draft.ts';
import { readPlainFile } from '../git/plain-file.ts';
import { isSilenced } from '../silence.ts';
import { countLoss } from '../spool/losses.ts';
import { openKeysIn } from '../spool/pieces.ts';
import { prepareSpool } from '../spool/prepare.ts';
import { type Disk, putEntry, realDisk } from '../spool/put.ts';
import { BUDGETS_MS, IDLE_MS } from './budgets.ts';
import type { HookEnvironment } from './env.ts';
import { type Hash, keyedHasher, streamHasher } from './hash.ts';
import { readHookSettings } from './hook-settings.ts';
import { ensureCollector, startCollector } from './start-collector.ts';
import type { Input, InputOptions, Reading } from './stdin.ts';

export interface HookIo {
  environment: HookEnvironment;
  argv: readonly string[];
  /** Where the harness runs us; null when that folder is gone. */
  cwd: () => string | null;
  /** Reads the payload (stdin.ts). */
  read: (options: InputOptions) => Reading;
  /** What the harness is to read. */
  print: (text: string) => void;
  /** Milliseconds since 1970, with a fraction. */
  now: () => number;
  /** When the harness started us: the time of capture. */
  startedAt: number;
  /** Told how much time there is from the start, once the event is known to be of a moment that has its own. */
  budget?: (ms: number) => void;
  disk?: Disk;
  inputLimit?: number;
}

const INPUT_LIMIT = 64 * 1024 * 1024;
const RULES_LIMIT = 1024 * 1024;

export interface Hook {
  /** One payload into the spool, and at a stop the gate's decision. Never rejects. */
  done: Promise<void>;
  /** What came of a payload that is in no spool yet goes into it, or is counted as lost. Never throws. */
  giveUp: () => void;
}

/** One call of the hook. */
export function startHook(io: HookIo): Hook {
  const { environment, now, disk = realDisk } = io;
  const { home } = environment;
  const silent = () => environment.off || isSilenced(home, null);
  const reading = io.read({
    limit: io.inputLimit ?? INPUT_LIMIT,
    idleMs: IDLE_MS,
    hasher: () => streamHasher(home),
  });
  let settled = false;
  const put = (entry: SpoolEntry | null): boolean => {
    settled = true;
    if (entry) putEntry(home, entry, io.startedAt, disk);
    return entry !== null;
  };

  async function work(): Promise<void> {
    const input = await reading.whole;
    if (silent()) return void put(null);
    // without a key and room to make one it throws: nothing may be written without its hash
    const context = contextOf(io, keyedHasher(home));
    if (input.kind === 'too_large') return void put(captureTooLarge(input, context));
    const heard = inRun(hear(input.bytes), environment);
    const { adapter, payload } = heard;
    const moment = adapter && payload ? adapter.moment(payload) : null;
    if (moment !== null) io.budget?.(BUDGETS_MS[moment]);
    const start = payload && moment === 'start' ? await startFacts(io, heard, payload) : null;
    if (!put(captureHeard(heard, start ? { ...context, facts: start.fields } : context))) return;
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

  function giveUp(): void {
    if (settled) return;
    settled = true;
    try {
      const input = reading.soFar();
      if (silent() || isNothing(input)) return;
      const context = contextOf(io, keyedHasher(home));
      if (input.kind === 'too_large') put(captureTooLarge(input, context));
      else put(captureHeard(inRun(hear(input.bytes), environment), context));
    } catch {
      countLoss(home);
    }
  }

  return { done: work().catch(giveUp), giveUp };
}

const isNothing = (input: Input) => input.kind === 'whole' && input.bytes.length === 0;

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
