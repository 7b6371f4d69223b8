import type { FlipMetricDelta } from '../../schemas/generated.ts';
import { isFrom, type Out, type Step, type StreamRecord } from '../record.ts';
import { contributionOf, isNothing, negated, plus } from './contribution.ts';

/** A session's contribution as last told. */
export interface Told {
  revision: number;
  contribution: FlipMetricDelta;
}

/**
 * First step of the metrics: what changes in a session's contribution goes to its bucket, the old taken away
 * and the new added. State: one a session, of fixed size.
 */
export function createSessionMetrics() {
  return {
    group: 'metrics-session',
    inputs: ['sessions'] as const,
    outputs: ['flip.metrics.deltas'] as const,
    apply: (told: Told | null, record: StreamRecord): Step<Told, 'flip.metrics.deltas'> => {
      if (!isFrom(record, 'sessions')) return { state: told, out: [] };
      const { revision, capture } = record.value;
      // what was imported is never counted with our own
      if (capture === 'imported') return { state: told, out: [] };
      if (told && revision < told.revision) return { state: told, out: [] };
      const contribution = contributionOf(record.value);
      const deltas = differences(told?.contribution ?? null, contribution);
      return { state: { revision, contribution }, out: deltas.map(toBucket) };
    },
  };
}

function differences(old: FlipMetricDelta | null, now: FlipMetricDelta): FlipMetricDelta[] {
  if (!old) return [now];
  if (old.bucket !== now.bucket) return [negated(old), now];
  const change = plus(now, old, -1);
  return isNothing(change) ? [] : [change];
}

function toBucket(value: FlipMetricDelta): Out<'flip.metrics.deltas'> {
  return { topic: 'flip.metrics.deltas', key: value.bucket, value };
}
