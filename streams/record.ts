import type { Records, SchemaName } from '../schemas/generated.ts';
import type { RecordOf } from '../schemas/records.ts';
import type { TopicName } from '../schemas/topics.ts';

/** The part of a record in the log that a reducer may look at: never its offset or the time it was taken. */
export interface StreamRecord<T extends TopicName = TopicName> {
  topic: T;
  key: string;
  value: RecordOf<T> & Records[SchemaName];
}

/** A record that a reducer puts out. */
export type Out<T extends TopicName> = { [N in T]: { topic: N; key: string; value: RecordOf<N> } }[T];

/** A reducer's answer to one record. */
export interface Step<S, T extends TopicName> {
  state: S | null;
  out: Out<T>[];
}

/** Whether a record comes from `topic`, and so carries what that topic carries: the log decoded it by that schema. */
export function isFrom<T extends TopicName>(record: StreamRecord, topic: T): record is StreamRecord<T> {
  return record.topic === topic;
}
