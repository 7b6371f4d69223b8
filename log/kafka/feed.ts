import { setTimeout as sleep } from 'node:timers/promises';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { RawRecord, Refused } from '../values.ts';
import type { Warn } from '../warn.ts';
import { notAllowed } from './errors.ts';
import { type Fetched, fetchFrom, type Wanted } from './fetch.ts';
import { boundsOf } from './offsets.ts';
import { readBatches } from './record-batch.ts';
import type { Wire } from './wire.ts';

/** What lies in one partition from where it was asked for; the numbers are those of `Batch`. */
export interface Portion {
  records: RawRecord[];
  /** Batches that cannot be read, as `readBatches` gives them. */
  unreadable: Refused[];
  nextOffset: number;
  end: number;
  earliest: number;
}

/** Gives a process the records of the partitions it works on, by one standing request to each broker. */
export interface Feed {
  /**
   * Resolves when there is anything from `from` on; one call for a partition at a time. Outages are waited out.
   * @throws FlipstreamError `log_rewound` (fatal), `kafka_not_allowed` (usage); `feed_closed` once closed.
   */
  next(topic: string, partition: number, from: number): Promise<Portion>;
  /** A partition that will be asked for: nothing is quiet before it is. */
  expect(topic: string, partition: number): void;
  /** Takes back what was asked for a partition; it will be asked again. */
  drop(topic: string, partition: number): void;
  /** Takes back everything, for good. */
  release(topic: string, partition: number): void;
  releaseAll(): void;
  /** Nothing that is asked for is there: every partition stands at its end. */
  quiet(): boolean;
  close(): void;
}

export interface FeedOptions {
  wire: Wire;
  /** Called when `quiet` has become true. */
  onQuiet?: () => void;
  /** A topic that was unknown for a while is back; it may be another of that name. */
  onReturn?: (topic: string) => void;
  warn: Warn;
}

interface Want extends Wanted {
  resolve: (fetched: Fetched) => void;
  reject: (error: unknown) => void;
  /** A broker has said that there is nothing. */
  empty: boolean;
}

const LIMITS = { bytes: 8 * 2 ** 20, partitionBytes: 2 ** 20 };
/** A broker holds an empty answer this long; shorter while a partition is being worked on and will soon ask again. */
const WAIT_MS = 250;
const BUSY_WAIT_MS = 10;
const FIRST_PAUSE_MS = 20;
const LAST_PAUSE_MS = 1_000;

const OUT_OF_RANGE = 1;
const UNKNOWN_TOPIC = 3;
const NOT_ALLOWED = 29;

export function createFeed({ wire, onQuiet, onReturn, warn }: FeedOptions): Feed {
  const wants = new Map<string, Want>();
  /** Every partition that is followed, to know whether one is being worked on. */
  const known = new Set<string>();
  const asking = new Set<number>();
  const missing = new Set<string>();
  let closed = false;
  let pause = 0;
  let sending: Promise<void> | null = null;

  function kick(): void {
    if (closed || sending) return;
    sending = send().finally(() => {
      sending = null;
    });
  }

  /** Sends to every leader that has no request of ours under way. */
  async function send(): Promise<void> {
    try {
      await wire.ready();
      const byLeader = new Map<number, Want[]>();
      let lost = false;
      for (const want of wants.values()) {
        const leader = wire.leaderOf(want.topic, want.partition);
        if (leader === null) lost = true;
        else if (!asking.has(leader)) byLeader.set(leader, [...(byLeader.get(leader) ?? []), want]);
      }
      for (const [leader, wanted] of byLeader) void ask(leader, wanted);
      if (lost) await trouble('a partition has no leader', null);
    } catch (error) {
      await trouble('the brokers do not answer', error);
    }
  }

  async function ask(leader: number, wanted: readonly Want[]): Promise<void> {
    asking.add(leader);
    try {
      const broker = await wire.broker(leader);
      const waitMs = wants.size < known.size ? BUSY_WAIT_MS : WAIT_MS;
      const answers = await fetchFrom(broker, wanted, { ...LIMITS, waitMs });
      const problems = [];
      for (const answer of answers) problems.push(await take(answer, wanted));
      const problem = problems.find((one) => one !== null);
      if (problem) await trouble(problem, null);
      else pause = 0;
      if (onQuiet && quiet()) onQuiet();
    } catch (error) {
      await trouble('records could not be fetched', error);
    } finally {
      asking.delete(leader);
      if (wants.size > 0) setImmediate(kick);
    }
  }

  /** Hands an answer to whoever asked for it. @returns what stands in the way, or null */
  async function take(fetched: Fetched, asked: readonly Want[]): Promise<string | null> {
    const { topic, partition, error } = fetched;
    const name = nameOf(topic, partition);
    const want = asked.find((one) => one.topic === topic && one.partition === partition);
    // Whoever asks by now may ask for what lies before this: it would be passed over.
    const isOver = () => wants.get(name) !== want;
    if (!want || isOver()) return null;
    if (error === 0) {
      if (missing.delete(topic)) onReturn?.(topic);
      want.empty = want.from >= fetched.end;
      if (fetched.bytes.length === 0) return null;
      wants.delete(name);
      want.resolve(fetched);
      return null;
    }
    if (error === OUT_OF_RANGE) {
      const { earliest, end } = await boundsOf(wire, topic, partition);
      if (isOver()) return null;
      wants.delete(name);
      if (want.from > end) want.reject(rewound(topic, partition, want.from, end));
      else want.resolve({ ...fetched, earliest, end, bytes: Buffer.alloc(0) });
      return null;
    }
    if (error === NOT_ALLOWED) {
      wants.delete(name);
      want.reject(notAllowed(`reading ${topic}`, wire.brokers));
      return null;
    }
    if (error === UNKNOWN_TOPIC) missing.add(topic);
    return `${name}: Kafka answers with error ${error}`;
  }

  async function trouble(message: string, error: unknown): Promise<void> {
    if (closed) return;
    const before = pause;
    pause = Math.min(Math.max(before * 2, FIRST_PAUSE_MS), LAST_PAUSE_MS);
    if (pause === LAST_PAUSE_MS && before < pause) warn(`${message}; trying again`, error);
    await sleep(pause);
    if (closed) return;
    await wire.refresh();
    setImmediate(kick);
  }

  function drop(topic: string, partition: number): void {
    const name = nameOf(topic, partition);
    wants.get(name)?.reject(closedFeed());
    wants.delete(name);
  }

  function quiet(): boolean {
    if (wants.size < known.size) return false;
    for (const want of wants.values()) if (!want.empty) return false;
    return true;
  }

  return {
    async next(topic, partition, from) {
      if (closed) throw closedFeed();
      const name = nameOf(topic, partition);
      known.add(name);
      const fetched = await new Promise<Fetched>((resolve, reject) => {
        wants.set(name, { topic, partition, from, resolve, reject, empty: false });
        kick();
      });
      const { earliest, end, bytes, aborted } = fetched;
      const read = await readBatches(bytes, Math.max(from, earliest), aborted);
      return { ...read, end: Math.max(end, read.nextOffset), earliest };
    },
    expect: (topic, partition) => void known.add(nameOf(topic, partition)),
    drop,
    release(topic, partition) {
      known.delete(nameOf(topic, partition));
      drop(topic, partition);
    },
    releaseAll() {
      known.clear();
      for (const want of wants.values()) want.reject(closedFeed());
      wants.clear();
    },
    quiet,
    close() {
      closed = true;
      for (const want of wants.values()) want.reject(closedFeed());
      wants.clear();
    },
  };
}

const nameOf = (topic: string, partition: number) => `${topic}/${partition}`;

function closedFeed(): FlipstreamError {
  return new FlipstreamError('feed_closed', 'retryable', 'stopped while waiting for records');
}

/** The log went back behind what was already worked through. */
function rewound(topic: string, partition: number, from: number, end: number): FlipstreamError {
  return new FlipstreamError(
    'log_rewound',
    'fatal',
    `${topic}/${partition}: everything up to offset ${from - 1} was worked through, and the topic ends at ${end}: it was made anew, or brokers lost acknowledged records. Rebuild in a fresh home with flipstream replay`,
  );
}
