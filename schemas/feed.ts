/** What an agent host fetches from its oracle: GET /v1/feed?after=<next>, bearer token of the host. */
import { z } from 'zod';

export const FeedAnswer = z.object({
  /** The oracle's random host id: another one is another home, whose feed begins at 0. */
  oracle_host: z.string(),
  /** The oracle publishes into the log itself: there is nothing to fetch. */
  publishes: z.boolean(),
  /** To ask with the next time. */
  next: z.number().int().min(0),
  /** In their JSON form, in order; a verdict's key is its session. */
  records: z.array(
    z.object({ topic: z.enum(['oracle.verdicts', 'tasks']), key: z.string(), value: z.unknown() }),
  ),
});
export type FeedAnswer = z.infer<typeof FeedAnswer>;
