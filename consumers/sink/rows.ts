import type { Incoming } from '../../log/log.ts';
import { verdictHash } from '../../schemas/signature.ts';
import type { TopicName } from '../../schemas/topics.ts';
import { TOPICS } from '../../schemas/topics.ts';
import { columnsOf } from '../../warehouse/columns.ts';
import { type LandedTopic, specOf, TABLE_NAMES, TABLES, type TableName } from '../../warehouse/tables.ts';

/** A row of a table, values in the order of its columns. */
export type Row = unknown[];

export interface RowMaker {
  /** @param landedAt ISO 8601: when the row was taken in. */
  row(record: Incoming, logId: string, landedAt: string): Row;
}

/** Makes rows of a table's records; the record's own values are taken as they are, not copied. */
export function createRowMaker(table: TableName): RowMaker {
  const { topic, omit } = specOf(table);
  const names = columnsOf(TOPICS[topic].schema).map(({ name }) => name);
  const left = names.filter((name) => omit.includes(name)).map((name) => names.indexOf(name));
  const inOrder = orderChecker(names);
  return {
    row({ partition, offset, key, value }, logId, landedAt) {
      const row: Row = inOrder(value) ? Object.values(value) : byName(value, names);
      for (const index of left) row.splice(index, 1);
      if (table === 'verdicts' && 'oracle_seq' in value) row.push(key, verdictHash(value));
      // Not pushed: an array that grows keeps room for half as much again.
      return row.concat(logId, partition, offset, landedAt);
    },
  };
}

/**
 * Decoded records are instances of one class whose fields are the schema's, in order: then their values are
 * the row. Looking each up by name would cost more than decoding it.
 */
function orderChecker(names: readonly string[]): (value: object) => boolean {
  let known: unknown = null;
  return (value) => {
    if (value.constructor === known) return true;
    if (value.constructor === Object) return false;
    const keys = Object.keys(value);
    if (keys.length !== names.length || keys.some((key, index) => key !== names[index])) return false;
    known = value.constructor;
    return true;
  };
}

function byName(value: object, names: readonly string[]): Row {
  const fields = new Map<string, unknown>(Object.entries(value));
  return names.map((name) => fields.get(name) ?? null);
}

/** About how many bytes a record holds on the heap: its content, and a guess for the rest. */
export function weightOf({ value }: Incoming): number {
  if (!('salt' in value)) return 1000;
  const { text_redacted: text, input_redacted: input, output_redacted: output } = value;
  const { result_redacted: result, diff_redacted: diff } = value;
  const lengths =
    (text?.length ?? 0) +
    (input?.length ?? 0) +
    (output?.length ?? 0) +
    (result?.length ?? 0) +
    (diff?.length ?? 0);
  return 1000 + lengths;
}

const byTopic = new Map<TopicName, TableName>(TABLE_NAMES.map((name) => [TABLES[name].topic, name]));

/** The topics that land, and where. */
export const LANDED_TOPICS: readonly LandedTopic[] = TABLE_NAMES.map((name) => TABLES[name].topic);

export function tableOf(topic: LandedTopic): TableName {
  const table = byTopic.get(topic);
  if (table === undefined) throw new TypeError(`${topic} has no table`);
  return table;
}
