import type { FlipMetric } from '../../schemas/generated.ts';
import { isFrom, type Step, type StreamRecord } from '../record.ts';
import { plus } from './contribution.ts';

/**
 * Second step of the metrics: the sums of a bucket. One that every session has left stays, with zeros, and is no row in
 * the warehouse. The order of the deltas does not matter, but each has to come once: what was seen is not remembered
 * here, so this step, alone of all, rests on the log committing outputs, state and offset of a record in one transaction.
 */
export function createBucketMetrics() {
  return {
    group: 'metrics-bucket',
    inputs: ['flip.metrics.deltas'] as const,
    outputs: ['flip.metrics'] as const,
    apply: (sums: FlipMetric | null, record: StreamRecord): Step<FlipMetric, 'flip.metrics'> => {
      if (!isFrom(record, 'flip.metrics.deltas')) return { state: sums, out: [] };
      const value = sums ? plus(sums, record.value) : { ...record.value };
      return { state: value, out: [{ topic: 'flip.metrics', key: record.key, value }] };
    },
  };
}
