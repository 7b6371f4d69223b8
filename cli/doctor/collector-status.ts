import { request } from 'node:http';
import { z } from 'zod';
import type { Home } from '../../producers/home.ts';

const ASK_MS = 2000;

/** What the resident collector says of itself on its socket (`GET /status`). */
const CollectorStatus = z.looseObject({
  pid: z.number(),
  /** same_user or separate_user. */
  capture: z.string().optional(),
  started_at: z.string(),
  /** Spool entries that could not be read and were set aside. */
  unreadable: z.number(),
  /** Events committed and not published yet. */
  waiting: z.number(),
  open_sessions: z.number(),
  http: z.looseObject({ port: z.number(), refused: z.record(z.string(), z.number()) }).nullable(),
});
export type CollectorStatus = z.infer<typeof CollectorStatus>;

/** The collector's answer, or null when none answers. */
export function askCollector(home: Home): Promise<CollectorStatus | null> {
  return new Promise((resolve) => {
    const asked = request(
      { socketPath: home.collectorSocket, path: '/status', timeout: ASK_MS },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', () => resolve(null));
        response.on('end', () => resolve(parse(Buffer.concat(chunks).toString('utf8'))));
      },
    );
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(null));
    asked.end();
  });
}

function parse(text: string): CollectorStatus | null {
  try {
    return CollectorStatus.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
