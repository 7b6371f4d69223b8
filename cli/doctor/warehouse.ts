/** Check of the tables: each is there as its log says, and every file of it can be opened. */
import { existsSync } from 'node:fs';
import type { Home } from '../../producers/home.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { openReader } from '../../warehouse/query.ts';
import { TABLE_NAMES } from '../../warehouse/tables.ts';
import { type Finding, ok, problem } from './finding.ts';

/** A problem for each table that cannot be read. What lies inside the files is looked at by whoever asks for it. */
export async function checkWarehouse({ warehouse }: Home): Promise<Finding[]> {
  if (!existsSync(warehouse)) return [ok('warehouse', 'Nothing has landed yet.')];
  const reader = await openReader(warehouse);
  try {
    const findings: Finding[] = [];
    for (const table of TABLE_NAMES) {
      try {
        await reader.query(`SELECT count(*) FROM ${table}`);
      } catch (error) {
        if (!(error instanceof FlipstreamError)) throw error;
        const mend = `See ${error.code} in docs/reference/errors.md.`;
        findings.push(problem('warehouse', `${table}: ${error.message}.`, mend));
      }
    }
    return findings.length > 0
      ? findings
      : [ok('warehouse', `All ${TABLE_NAMES.length} tables can be read.`)];
  } finally {
    reader.close();
  }
}
