import type { FlipMetric } from '../../schemas/generated.ts';
import { isFrom, type Step, type StreamRecord } from '../record.ts';
import { plus } from './contribution.ts';

/** Second step of the metrics: the sums of a bucket. One that every session has left stays, with zeros. */
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
