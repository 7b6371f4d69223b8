/** The archive as a source of `replay`: what lies in the warehouse's tables, in the order in which it was published. */
import { jsonReader } from '../../schemas/from-json.ts';
import type { Warehouse } from '../warehouse.ts';
import type { Source } from './copy.ts';

const readTask = jsonReader('Task');
const readVerdict = jsonReader('Verdict');
const readEvent = jsonReader('TraceEvent');
const IN_ORDER = 'order by _log_id, _partition, _offset';

/** Records of a warehouse. The keys are those they were published under. */
export async function* fromArchive(warehouse: Warehouse): Source {
  for await (const rows of records(warehouse, `from tasks ${IN_ORDER}`))
    yield rows.map((row) => {
      const value = readTask(row);
      return { topic: 'tasks', key: value.task_id, value } as const;
    });
  for await (const rows of records(warehouse, `from verdicts ${IN_ORDER}`))
    yield rows.map(
      (row) => ({ topic: 'oracle.verdicts', key: String(row._key), value: readVerdict(row) }) as const,
    );
  for await (const rows of records(warehouse, `from events ${IN_ORDER}`))
    yield rows.map((row) => {
      const value = readEvent(row);
      return { topic: 'trace.events', key: value.session_id, value } as const;
    });
}

async function* records(warehouse: Warehouse, sql: string): AsyncGenerator<Record<string, unknown>[]> {
  const { columns, rows } = await warehouse.stream(sql);
  for await (const chunk of rows)
    yield chunk.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
}
