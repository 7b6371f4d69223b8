import type { Incoming } from '../../log/log.ts';
import { decoder } from '../../schemas/codec.ts';
import { verdictHash } from '../../schemas/signature.ts';
import type { TopicName } from '../../schemas/topics.ts';
import { TOPICS } from '../../schemas/topics.ts';
import { putValue, type Sheet } from '../../warehouse/sheet.ts';
import { recordWriter } from '../../warehouse/sheet-avro.ts';
import { putNumber, putText } from '../../warehouse/strip.ts';
import {
  type LandedTopic,
  specOf,
  TABLE_NAMES,
  TABLES,
  type TableName,
  tableColumns,
} from '../../warehouse/tables.ts';

/** Adds a record as a row to a sheet of its table. */
type AddRow = (sheet: Sheet, record: Incoming<LandedTopic, Buffer>) => void;

export interface RowWriter {
  /** @param landedAt ISO 8601: when the rows are taken in. */
  from(logId: string, landedAt: string): AddRow;
}

export function createRowWriter(table: TableName): RowWriter {
  const { topic, omit } = specOf(table);
  const put = recordWriter(TOPICS[topic].schema, omit);
  const putOwn = table === 'verdicts' ? ownOfVerdict() : null;
  const columns = tableColumns(table).map(({ name }) => name);
  const [logIdAt, partitionAt, offsetAt, landedAtAt] = [
    columns.indexOf('_log_id'),
    columns.indexOf('_partition'),
    columns.indexOf('_offset'),
    columns.indexOf('_landed_at'),
  ];
  return {
    from(logId, landedAt) {
      const id = Buffer.from(logId);
      const time = Buffer.from(landedAt);
      return (sheet, record) => {
        const row = sheet.rows;
        put(sheet, row, record.value);
        putOwn?.(sheet, record);
        const { strips } = sheet;
        const [logIds, partitions, offsets, times] = [
          strips[logIdAt],
          strips[partitionAt],
          strips[offsetAt],
          strips[landedAtAt],
        ];
        if (logIds && partitions && offsets && times) {
          putText(logIds, row, id, 0, id.length);
          putNumber(partitions, row, record.partition);
          putNumber(offsets, row, record.offset);
          putText(times, row, time, 0, time.length);
        }
        sheet.rows++;
      };
    },
  };
}

/** The key a verdict was published under, and the hash of the whole signed record. */
function ownOfVerdict(): AddRow {
  const decode = decoder('Verdict');
  const columns = tableColumns('verdicts').map(({ name }) => name);
  const [keyAt, hashAt] = [columns.indexOf('_key'), columns.indexOf('_hash')];
  return ({ strips, rows }, { key, value }) => {
    const [keys, hashes] = [strips[keyAt], strips[hashAt]];
    if (!keys || !hashes) return;
    putValue(keys, rows, key);
    putValue(hashes, rows, verdictHash(decode(value)));
  };
}

const byTopic = new Map<TopicName, TableName>(TABLE_NAMES.map((name) => [TABLES[name].topic, name]));

/** The topics that land, and where. */
export const LANDED_TOPICS: readonly LandedTopic[] = TABLE_NAMES.map((name) => TABLES[name].topic);

export function tableOf(topic: LandedTopic): TableName {
  const table = byTopic.get(topic);
  if (table === undefined) throw new TypeError(`${topic} has no table`);
  return table;
}
