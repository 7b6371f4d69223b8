import type { SchemaName } from './generated.ts';

export interface TopicSpec {
  schema: SchemaName;
  cleanup: 'delete' | 'compact';
  /** How long records are kept; null for ever. */
  retentionDays: number | null;
  /** The bytes field that the log seals to the reviewer's key before it writes. */
  sealed?: 'content';
}

/** Every topic, what it carries and how long. Keys: session_id unless the comment says otherwise. */
export const TOPICS = {
  'trace.raw': { schema: 'TraceEvent', cleanup: 'delete', retentionDays: 7 },
  'trace.events': { schema: 'TraceEvent', cleanup: 'delete', retentionDays: 365 },
  'trace.quarantine': { schema: 'Quarantined', cleanup: 'delete', retentionDays: 365, sealed: 'content' },
  'oracle.verdicts': { schema: 'Verdict', cleanup: 'delete', retentionDays: 3650 },
  sessions: { schema: 'Session', cleanup: 'compact', retentionDays: null },
  /** key: session_id + ':' + task_id */
  flips: { schema: 'Flip', cleanup: 'compact', retentionDays: null },
  /** key: bucket */
  'flip.metrics.deltas': { schema: 'FlipMetricDelta', cleanup: 'delete', retentionDays: 7 },
  /** key: bucket */
  'flip.metrics': { schema: 'FlipMetric', cleanup: 'compact', retentionDays: null },
  /** key: task_id */
  tasks: { schema: 'Task', cleanup: 'compact', retentionDays: null },
  /** key: source topic */
  deadletter: { schema: 'DeadLetter', cleanup: 'delete', retentionDays: 365, sealed: 'content' },
} as const satisfies Record<string, TopicSpec>;

export type TopicName = keyof typeof TOPICS;
export const TOPIC_NAMES = Object.keys(TOPICS) as TopicName[];
