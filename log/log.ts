/** The event log: one interface, two engines. docs/design.md tells what each promise is for. */
import type { RecordOf } from '../schemas/records.ts';
import type { TopicName } from '../schemas/topics.ts';

/** A record to publish; `key` decides the partition, so records of one key keep their order. */
export interface Outgoing<T extends TopicName = TopicName> {
  topic: T;
  key: string;
  value: RecordOf<T>;
}

/** A decoded record at its place in the log. Offsets of a compacted topic have gaps. */
export interface Incoming<T extends TopicName = TopicName, V = RecordOf<T>> {
  topic: T;
  partition: number;
  offset: number;
  key: string;
  /** When the log took it, milliseconds since the epoch. Never part of a reducer's output. */
  timestamp: number;
  value: V;
}

/** Records of one partition in order. Undecodable ones have already gone to `deadletter`. */
export interface Batch<T extends TopicName = TopicName, V = RecordOf<T>> {
  topic: T;
  partition: number;
  records: Incoming<T, V>[];
  /** The offset to go on from once this batch is done: above every record of it, dead letters included. */
  nextOffset: number;
  /** The partition's end when the batch was read; `end - nextOffset` is the lag. */
  end: number;
  /** Earliest offset still kept: above the expected one, records have been lost to retention. */
  earliest: number;
}

export interface ConsumeOptions<T extends TopicName, V = RecordOf<T>> {
  group: string;
  topics: readonly T[];
  /** Where to go on for a partition when the consumer's own store is the truth; null: the group's committed offset. */
  startAt?: (topic: T, partition: number) => Promise<number | null>;
  /**
   * Resolves when the batch is done; the offset is committed after it. A rejection is retried from the same offset.
   * A batch without records tells that dead letters were written of what it had, or that retention took it.
   */
  onBatch: (batch: Batch<T, V>) => Promise<void>;
  /** Called when every partition has been read up to its end; for flushes. */
  onIdle?: () => Promise<void>;
  maxBatch?: number;
}

/** Something that runs until it is stopped. `done` rejects with the error that ended it. */
export interface Running {
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/** What a reducer makes of one record. `state: null` forgets the key. */
interface Step<S> {
  state: S | null;
  out: Outgoing[];
}

/**
 * A processor: deterministic, no clock, no I/O. The log restores `state` per key, runs `apply` in order and
 * commits outputs, changed state and offsets in one transaction.
 */
export interface Reducer<S, P = undefined> {
  /** Consumer group; its changelog is `<group>.state`. */
  group: string;
  inputs: readonly TopicName[];
  /** Every topic that `apply` may write to: they are looked for before anything is written. */
  outputs: readonly TopicName[];
  /** State key of a record; records of one key meet in one partition. Default: the record's key. */
  stateKey?: (record: Incoming) => string;
  /**
   * Heavy work over a whole batch before `apply`, run in a worker thread: the module at `module` exports
   * `prepare(records: Incoming[]): Promise<P[]>`. When it throws or outlives `deadlineMs`, the runner tries
   * each record alone, and `apply` gets `fallback` for those that still fail.
   */
  prepare?: { module: URL; deadlineMs: number; fallback: (why: 'timeout' | 'failed') => P };
  apply: (state: S | null, record: Incoming, prepared: P) => Step<S>;
  /** Changelog value of a state and back. Default: JSON. */
  freeze?: (state: S) => string;
  thaw?: (text: string) => S;
}

/** How far a group is in one partition of a topic that it reads. */
export interface PartitionLag {
  group: string;
  topic: string;
  partition: number;
  /** Where it goes on: what it has committed, or the first record that is kept where that is later. */
  committed: number;
  end: number;
}

/** Where a partition ends. */
export interface PartitionEnd {
  topic: TopicName;
  partition: number;
  end: number;
}

/** A record's bytes exactly as they lay in the log. */
export interface StoredBytes {
  topic: TopicName;
  key: string;
  value: Buffer;
}

/** Counts since the log was opened by this process; for the metrics endpoint. */
export interface LogCounters {
  published: Record<string, number>;
  consumed: Record<string, number>;
  /** Bytes of values, before the log compresses them. */
  bytesPublished: Record<string, number>;
  bytesConsumed: Record<string, number>;
  deadLetters: number;
  transactionFailures: number;
  /** Of those: because another process had taken the partition over. */
  fenced: number;
}

export interface Log {
  readonly engine: 'embedded' | 'kafka';
  /** Identity of the log for `topic`: a recreated log or topic has another. */
  idOf(topic: TopicName): Promise<string>;
  partitions(topic: TopicName): Promise<number>;
  /** Resolves once every record is durable. @throws FlipstreamError retryable; then none or some were taken. */
  publish(records: readonly Outgoing[]): Promise<void>;
  consume<T extends TopicName>(options: ConsumeOptions<T>): Running;
  /**
   * The same, each value as Avro binary under our own schema, whatever it was written under, and known to be
   * one whole record of it: for whoever builds columns and needs no objects. Strings may not be UTF-8.
   */
  consumeAvro<T extends TopicName>(options: ConsumeOptions<T, Buffer>): Running;
  run<S, P>(reducer: Reducer<S, P>): Running;
  /** Records of one partition from `from`, at most `max`; for replay and inspection. No group, no commit. */
  read<T extends TopicName>(topic: T, partition: number, from: number, max: number): Promise<Batch<T>>;
  /** What lies at one place, as it is, readable or not; null when it is no longer there. */
  bytesAt(topic: TopicName, partition: number, offset: number): Promise<StoredBytes | null>;
  /**
   * Appends bytes that the log had before, and records that tell of it, in one transaction.
   * @param unmoved nothing is appended when this partition no longer ends where it did: somebody was quicker
   * @throws FlipstreamError `log_moved` (retryable)
   */
  putBack(stored: readonly StoredBytes[], along: readonly Outgoing[], unmoved?: PartitionEnd): Promise<void>;
  /** Of every group that has ever begun, in all partitions of what it reads. */
  lag(): Promise<PartitionLag[]>;
  counters(): LogCounters;
  close(): Promise<void>;
}
