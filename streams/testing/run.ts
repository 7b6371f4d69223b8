/** Runs a reducer over records as the log does, in memory: state through its frozen form, last value of every key. */
import type { TraceEvent, Verdict } from '../../schemas/generated.ts';
import type { TopicName } from '../../schemas/topics.ts';
import type { Out, StreamRecord } from '../record.ts';

interface TestReducer<S, T extends TopicName> {
  apply: (state: S | null, record: StreamRecord) => { state: S | null; out: Out<T>[] };
}

export interface Ran<T extends TopicName> {
  out: Out<T>[];
  /** Last value by topic and key, `topic key`. */
  last: Map<string, Out<T>['value']>;
  /** Frozen states by key. */
  states: Map<string, string>;
}

export function runReducer<S, T extends TopicName>(
  reducer: TestReducer<S, T>,
  records: Iterable<StreamRecord>,
  states: Map<string, string> = new Map(),
): Ran<T> {
  const out: Out<T>[] = [];
  for (const record of records) {
    const frozen = states.get(record.key);
    const step = reducer.apply(frozen === undefined ? null : JSON.parse(frozen), record);
    if (step.state === null) states.delete(record.key);
    else states.set(record.key, JSON.stringify(step.state));
    out.push(...step.out);
  }
  return { out, last: new Map(out.map(({ topic, key, value }) => [`${topic} ${key}`, value])), states };
}

export function eventRecord(
  value: TraceEvent,
  topic: 'trace.raw' | 'trace.events' = 'trace.events',
): StreamRecord {
  return { topic, key: value.session_id, value };
}

/** @param key a baseline names no session: it lies under the key of the session it was copied for */
export function verdictRecord(value: Verdict, key: string = value.session_id ?? ''): StreamRecord {
  return { topic: 'oracle.verdicts', key, value };
}

/** Everything that was recorded of a session, as the join gets it. */
export function recordsOf(session: {
  sessionId: string;
  events: readonly TraceEvent[];
  verdicts: readonly Verdict[];
}): StreamRecord[] {
  return [
    ...session.events.map((event) => eventRecord(event)),
    ...session.verdicts.map((verdict) => verdictRecord(verdict, session.sessionId)),
  ];
}
