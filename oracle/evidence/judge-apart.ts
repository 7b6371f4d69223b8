import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { FlipstreamError } from '../../schemas/errors.ts';
import { type Evidence, type Judged, judgeUnread } from './judge.ts';

/** To read and judge the reports of one run; what takes longer counts as left without a report, milliseconds. */
export const READ_LIMIT_MS = 30_000;

/** The heap of a process that reads. The most that reports of the size that is kept were seen to take is half of it. */
const HEAP_MB = 1024;

/** Starting it and loading its rules is no part of a report's time. */
const START_LIMIT_MS = 60_000;

/**
 * Characters. One that has read more is not kept, since its heap stays as large as it has grown; and only more than this
 * can take so much memory: what is smaller and ended its reader did not, the machine did.
 */
const LARGE = 2 ** 20;

/**
 * Processor time, milliseconds. A small report that was late and took more was made to be slow: honest ones take a third
 * of a second at most, and the XML parser has forms that it takes many. What took less was kept from it by the machine. So
 * low, since on a machine that is busy the reader gets a tenth of a processor.
 */
const SLOW_CPU_MS = 1000;

/** Whoever ended the first one may not have been the report. */
const TRIES = 2;

/** The build gives this name the extension of the package's modules. */
const HOST = new URL('./judge-process.ts', import.meta.url);

type Said = { ready: true } | { judged: Judged };

/**
 * Reads and judges what graded code has reported. A large report that is not read in time, or that ends whoever reads
 * it, is one that cannot be read; so is a small one that is late by its own fault.
 * @throws FlipstreamError `judge_unusable` (retryable) when the machine is at fault, or what `signal` was aborted with.
 */
export type Judge = (
  evidence: Evidence,
  options?: { signal?: AbortSignal | undefined; limitMs?: number },
) => Promise<Judged>;

/**
 * Judges in processes of their own, so that no report holds up the service. Not in threads: one that takes more memory
 * than it may have can end the whole process. They are kept for the next run, as many as were needed at once, and end
 * with this process.
 * @param slowCpuMs processor time that makes it a small report's own fault to be late, milliseconds.
 */
export function createJudge(host = HOST, slowCpuMs = SLOW_CPU_MS): Judge {
  const idle = new Set<ChildProcess>();

  async function take(signal: AbortSignal | undefined): Promise<ChildProcess> {
    const [kept] = idle;
    if (kept) {
      idle.delete(kept);
      return kept;
    }
    const child = await start(host, signal);
    child.once('exit', () => idle.delete(child));
    return child;
  }

  function keep(child: ChildProcess, evidence: Evidence): void {
    if (isLarge(evidence)) child.kill('SIGKILL');
    else idle.add(child);
  }

  return async (evidence, { signal, limitMs = READ_LIMIT_MS } = {}) => {
    let left = limitMs;
    let atFault = isLarge(evidence);
    for (let tries = 0; tries < TRIES; tries++) {
      const child = await take(signal);
      const [asked, cpu] = [performance.now(), cpuOf(child)];
      child.send(evidence, () => undefined);
      const said = await answer(child, left, signal);
      if (typeof said !== 'string' && 'judged' in said) {
        keep(child, evidence);
        return said.judged;
      }
      if (said === 'late' && cpuOf(child) - cpu > slowCpuMs) atFault = true;
      child.kill('SIGKILL');
      if (said === 'late') break;
      left -= performance.now() - asked;
    }
    if (!atFault) throw unusable('was ended, or did not answer in time');
    return judgeUnread(evidence);
  };
}

/** The one of this process: whichever runner asks, they share what is kept. */
export const judgeApart: Judge = createJudge();

async function start(host: URL, signal: AbortSignal | undefined): Promise<ChildProcess> {
  const child = fork(host, {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    env: {},
  });
  child.on('error', () => undefined);
  // Whoever waits for an answer has a timer running; an idle one keeps nobody from ending.
  child.unref();
  child.channel?.unref();
  const said = await answer(child, START_LIMIT_MS, signal);
  if (typeof said !== 'string' && 'ready' in said) return child;
  child.kill('SIGKILL');
  throw unusable(
    `does not start (${said === 'late' ? 'not in time' : (child.exitCode ?? child.signalCode)})`,
  );
}

const isLarge = ({ reports }: Evidence) =>
  [...reports.values()].reduce((sum, { text }) => sum + text.length, 0) > LARGE;

/** Processor time of all its threads up to now, milliseconds; 0 where there is no /proc, so that nothing counts as slow. */
function cpuOf({ pid }: ChildProcess): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // In user and in system mode; Linux tells them in hundredths of a second, whatever its own clock is.
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number);
    return 10 * ((user ?? 0) + (system ?? 0));
  } catch {
    return 0;
  }
}

function unusable(what: string): FlipstreamError {
  return new FlipstreamError(
    'judge_unusable',
    'retryable',
    `the process that reads test reports ${what}; look for a lack of memory or of processes`,
  );
}

/** What it says next, or how the waiting ended. @throws what `signal` was aborted with; the child is ended then. */
function answer(
  child: ChildProcess,
  limitMs: number,
  signal: AbortSignal | undefined,
): Promise<Said | 'late' | 'gone'> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      child.off('message', hear).off('exit', gone).off('error', gone);
      signal?.removeEventListener('abort', abort);
    };
    const finish = (said: Said | 'late' | 'gone') => {
      end();
      resolve(said);
    };
    const hear = (said: Said) => finish(said);
    const gone = () => finish('gone');
    const abort = () => {
      end();
      child.kill('SIGKILL');
      reject(signal?.reason);
    };
    const timer = setTimeout(() => finish('late'), limitMs);
    child.on('message', hear).on('exit', gone).on('error', gone);
    signal?.addEventListener('abort', abort);
    if (signal?.aborted) abort();
  });
}
