import type { Proto } from '../collector/proto.ts';

/** What became of the records of one format. Every record read is in one of mapped, notices, repeated, already, captured, refused. */
export interface Counts {
  files: number;
  sessions: number;
  /** Bytes, unpacked. */
  bytes: number;
  /** Records: lines, steps, messages. */
  read: number;
  mapped: number;
  /** Records of which nothing but notices was made. */
  notices: number;
  /** Records that say again what others say. */
  repeated: number;
  /** Imported before. */
  already: number;
  /** Of sessions that were captured live. */
  captured: number;
  refused: number;
  /** New events, and of what kind. */
  events: number;
  messages: number;
  tool_calls: number;
  failures: number;
}

export interface Refusal {
  path: string;
  /** The line or the element; null for the whole file. */
  at: string | null;
  reason: string;
}

/** The closing table of an import. */
export interface Report {
  formats: Record<string, Counts>;
  /** Files in folders that are no trajectories at all. */
  skipped: number;
  /** Files that harnesses keep beside their trajectories, by what they are. */
  sidecars: Record<string, number>;
  /** How many were refused for each reason. */
  reasons: Record<string, number>;
  /** The first of them. */
  refused: Refusal[];
  /** How many notices there are of each kind. */
  kinds: Record<string, number>;
}

const SHOWN = 100;
const FAILED: ReadonlySet<unknown> = new Set(['error', 'denied', 'interrupted']);

export function newReport(): Report {
  return { formats: {}, skipped: 0, sidecars: {}, reasons: {}, refused: [], kinds: {} };
}

export function countsOf(report: Report, format: string): Counts {
  report.formats[format] ??= {
    ...{ files: 0, sessions: 0, bytes: 0, read: 0, mapped: 0, notices: 0, repeated: 0, already: 0 },
    ...{ captured: 0, refused: 0, events: 0, messages: 0, tool_calls: 0, failures: 0 },
  };
  return report.formats[format];
}

export function refuse(report: Report, refusal: Refusal): void {
  report.reasons[refusal.reason] = (report.reasons[refusal.reason] ?? 0) + 1;
  if (report.refused.length < SHOWN) report.refused.push(refusal);
}

/** Counts new events. */
export function countEvents(report: Report, counts: Counts, events: readonly Proto[]): void {
  counts.events += events.length;
  for (const { type, fields } of events) {
    if (type === 'message') counts.messages++;
    else if (type === 'tool_call') {
      counts.tool_calls++;
      if (FAILED.has(fields.status)) counts.failures++;
    } else if (type === 'notice') {
      const kind = String(fields.kind);
      report.kinds[kind] = (report.kinds[kind] ?? 0) + 1;
    }
  }
}

/** Whether anything was refused, which makes a command end with 3. */
export function someRefused(report: Report): boolean {
  return Object.keys(report.reasons).length > 0;
}
