import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { Log, Outgoing } from '../../log/log.ts';
import { hasCode, messageOf } from '../../schemas/errors.ts';
import { FeedAnswer } from '../../schemas/feed.ts';
import { jsonReader, unknownFields } from '../../schemas/from-json.ts';
import { newerWriter } from '../../schemas/newer.ts';
import { parseJson } from '../../schemas/parse-json.ts';
import type { Home } from '../home.ts';
import { askOracle, bodyOf, type OracleAt } from '../oracle-client.ts';

export interface FeedOptions {
  home: Pick<Home, 'feed'>;
  oracle: OracleAt;
  log: Pick<Log, 'publish'>;
  warn: (message: string, fields: Record<string, unknown>) => void;
  /** Between two looks, milliseconds. */
  everyMs?: number;
}

export interface VerdictFeed {
  stop(): Promise<void>;
}

const Place = z.object({ oracle_host: z.string(), next: z.number().int().min(0) });
type Place = z.infer<typeof Place>;

const EVERY_MS = 2_000;
/** An oracle that publishes by itself is asked seldom: it might be moved elsewhere. */
const SELDOM = 30;
const TIMEOUT_MS = 30_000;
/** Looks that fail one after the other before it is told. */
const FAILURES_TOLD = 2;
/** As long as nobody has ever listened there: the oracle may be starting beside the collector, on a slow machine. */
const ABSENCES_TOLD = 15;
const ANSWER_LIMIT = 32 * 2 ** 20;

/**
 * Brings the verdicts of an oracle that cannot write into this home's log: fetched with the host's token and
 * published unchanged. Nobody has to trust the way: each is signed. What was published is noted afterwards, so a
 * stop in between publishes again, and every reader knows a verdict by its id.
 */
export function startVerdictFeed(options: FeedOptions): VerdictFeed {
  const { everyMs = EVERY_MS, warn } = options;
  const aborter = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let answered = false;
  let told = false;

  async function look(): Promise<void> {
    let pause = everyMs;
    try {
      const answer = await fetchOnce(options, aborter.signal);
      if (answer.publishes) pause = everyMs * SELDOM;
      else if (answer.records.length > 0) pause = 0;
      failures = 0;
      answered = true;
      told = false;
    } catch (error) {
      failures += 1;
      const patience = !answered && isNobodyThere(error) ? ABSENCES_TOLD : FAILURES_TOLD;
      if (failures >= patience && !told && !aborter.signal.aborted) {
        told = true;
        warn('verdicts cannot be fetched from the oracle; they wait there', { why: messageOf(error) });
      }
    }
    if (aborter.signal.aborted) return;
    timer = setTimeout(() => {
      running = look();
    }, pause);
  }

  let running = look();
  return {
    async stop() {
      aborter.abort();
      clearTimeout(timer);
      await running;
    },
  };
}

function isNobodyThere(error: unknown): boolean {
  return hasCode(error, 'ECONNREFUSED') || hasCode(error, 'ENOENT');
}

async function fetchOnce({ home, oracle, log }: FeedOptions, stop: AbortSignal): Promise<FeedAnswer> {
  const place = readPlace(home.feed);
  const ask = async (after: number): Promise<FeedAnswer> => {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await askOracle(oracle, `/v1/feed?after=${after}`, { signal });
    const body = await bodyOf(response, ANSWER_LIMIT);
    if (response.statusCode !== 200) throw new Error(`it answers with status ${response.statusCode}`);
    return FeedAnswer.parse(parseJson(body.toString('utf8')));
  };
  const first = await ask(place?.next ?? 0);
  // Another home behind the same address: its feed from the beginning.
  const answer = place && first.oracle_host !== place.oracle_host ? await ask(0) : first;
  if (answer.publishes) return answer;
  if (answer.records.length > 0) await log.publish(answer.records.map(outgoing));
  const { oracle_host, next } = answer;
  if (next !== place?.next || oracle_host !== place.oracle_host) writePlace(home.feed, { oracle_host, next });
  return answer;
}

const readVerdict = jsonReader('Verdict');
const readTask = jsonReader('Task');

/** @throws FlipstreamError `newer_writer` (retryable): cut, a verdict's signature would be true no more. */
function outgoing({ topic, key, value }: FeedAnswer['records'][number]): Outgoing {
  const unknown = unknownFields(topic === 'tasks' ? 'Task' : 'Verdict', value);
  if (unknown.length > 0) throw newerWriter('the oracle\u2019s feed', unknown);
  return topic === 'tasks'
    ? { topic, key, value: readTask(value) }
    : { topic, key, value: readVerdict(value) };
}

/** A place that cannot be read is none: everything is fetched again, which changes nothing. */
function readPlace(path: string): Place | null {
  if (!existsSync(path)) return null;
  try {
    return Place.parse(parseJson(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

function writePlace(path: string, place: Place): void {
  writeFileSync(`${path}.new`, JSON.stringify(place), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
