/** One session out of the warehouse. */
import { z } from 'zod';
import { FlipstreamError } from '../../schemas/errors.ts';
import { jsonReader } from '../../schemas/from-json.ts';
import type { TraceEvent, Verdict } from '../../schemas/generated.ts';
import { text } from '../../warehouse/duck.ts';
import { counted } from '../counted.ts';
import type { Progress } from '../progress.ts';
import type { Warehouse } from '../warehouse.ts';

const SessionRow = z.looseObject({
  session_id: z.string(),
  task_id: z.string().nullable(),
  outcome: z.string().nullable(),
  marks: z.array(z.string()),
});
export type SessionRow = z.infer<typeof SessionRow>;

const readEvent = jsonReader('TraceEvent');
const readVerdict = jsonReader('Verdict');

/**
 * The joined state of a session, by its id or the beginning of it.
 * @throws FlipstreamError `session_unknown` (usage) when none or several fit.
 */
export async function sessionRow(warehouse: Warehouse, given: string): Promise<SessionRow> {
  const found = await warehouse.records(
    `select * from sessions where session_id = ${text(given)} or starts_with(session_id, ${text(given)})
     order by session_id <> ${text(given)}, session_id limit 2`,
  );
  const rows = z.array(SessionRow).parse(found);
  const [first, second] = rows;
  if (!first || given === '')
    throw new FlipstreamError(
      'session_unknown',
      'usage',
      `No session whose id is or begins with "${given}" has landed: flipstream sessions lists them.`,
    );
  if (second && first.session_id !== given)
    throw new FlipstreamError(
      'session_unknown',
      'usage',
      `Several sessions begin with ${given}: give more of the id.`,
    );
  return first;
}

/** Every event of a session as it stands in the warehouse; there may be a hundred thousand. */
export async function sessionEvents(
  warehouse: Warehouse,
  id: string,
  progress: Progress,
): Promise<TraceEvent[]> {
  const events: TraceEvent[] = [];
  for await (const rows of warehouse.chunks(`select * from events where session_id = ${text(id)}`)) {
    for (const row of rows) events.push(readEvent(row));
    progress.update(`${counted(events.length, 'event')} read`);
  }
  return events;
}

/** The signed verdicts under a session's key, the baseline's copy among them. */
export async function sessionVerdicts(warehouse: Warehouse, id: string): Promise<Verdict[]> {
  const rows = await warehouse.records(`select * from verdicts where _key = ${text(id)}`);
  return rows.map(readVerdict);
}
