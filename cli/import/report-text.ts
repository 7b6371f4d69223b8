import type { Report } from '../../producers/import/counts.ts';
import { counted } from '../counted.ts';
import { table } from '../table.ts';

const COLUMNS = [
  ...[
    'format',
    'files',
    'sessions',
    'read',
    'mapped',
    'notices',
    'repeated',
    'already',
    'captured',
    'refused',
  ],
  ...['messages', 'tool_calls', 'failures'],
];

/** Single refusals that are shown; all of them are counted. */
const SHOWN = 20;

/** The closing table of an import. */
export function reportText(report: Report): string {
  const rows = Object.entries(report.formats).map(([format, counts]) => ({ format, ...counts }));
  const reasons = Object.entries(report.reasons).map(([reason, count]) => ({ reason, count }));
  const sidecars = Object.entries(report.sidecars).map(([file, count]) => ({ file, count }));
  const kinds = Object.entries(report.kinds)
    .sort(([, a], [, b]) => b - a)
    .map(([kind, count]) => ({ kind, count }));
  const refused = report.refused
    .slice(0, SHOWN)
    .map(({ path, at, reason }) => `  ${path}${at ? `, ${at}` : ''}: ${reason}`);
  return [
    rows.length > 0 ? table(COLUMNS, rows) : 'Nothing was imported.',
    ...(kinds.length > 0 ? ['', 'Kept as notices:', table(['kind', 'count'], kinds)] : []),
    ...(reasons.length > 0 ? ['', 'Refused:', table(['reason', 'count'], reasons), ...refused] : []),
    ...(sidecars.length > 0
      ? ['', 'Passed over, beside the trajectories:', table(['file', 'count'], sidecars)]
      : []),
    ...(report.skipped > 0
      ? ['', `${counted(report.skipped, 'other file is no trajectory', 'other files are no trajectories')}.`]
      : []),
    ...(rows.length > 0 ? ['', 'They land in the tables while flipstream up runs.'] : []),
  ].join('\n');
}
