/** SWE-smith's and SWE-bench's evaluation reports: `resolved` says how a trajectory that was imported came out. Unsigned. */
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { asJson } from '../adapters/adapter.ts';
import { asPayload, type Payload } from '../adapters/payload.ts';
import { note } from './drafts.ts';
import type { FileFacts, Importer, Item, Session } from './importer.ts';

const Verdict = z.looseObject({ resolved: z.boolean(), patch_successfully_applied: z.boolean().optional() });

export const sweSmith: Importer = {
  format: 'swe-smith',
  recognises: ({ root, fields }) =>
    root === 'object' && (isReport(fields) || Object.values(fields).some(isReport)),
  shape: { split: [] },
  last: true,
  about: ['swe-agent', 'mini-swe-agent'],
  open: (file) => ({
    record: () => [],
    end: (whole) => (whole ? reportsOf(file).map(([id, report]) => itemOf(file, id, report)) : []),
  }),
};

function isReport(value: unknown): boolean {
  const fields = asPayload(value);
  return (
    fields !== null &&
    typeof fields.resolved === 'boolean' &&
    ('tests_status' in fields || 'patch_exists' in fields)
  );
}

/** A report of one instance, whose name is its file's or its folder's; or of several by their ids. */
function reportsOf({ path, root }: FileFacts): [string, Payload][] {
  if (isReport(root)) {
    const name = basename(path).replace(/\.\w{1,5}$/, '');
    const own = name === 'report' ? basename(dirname(path)) : name.replace(/\.report$/, '');
    return [[own, root]];
  }
  return Object.entries(root).flatMap(([id, value]) => {
    const report = asPayload(value);
    return report && isReport(report) ? [[id, report]] : [];
  });
}

function itemOf(file: FileFacts, instance: string, report: Payload): Item {
  const found = file.imported(instance);
  const beside = found.filter(({ folder }) => folder === dirname(file.path));
  const [only, second] = beside.length > 0 ? beside : found;
  if (!only) return { is: 'refused', at: instance, reason: 'a report of a trajectory that was not imported' };
  if (second && second.session.id !== only.session.id)
    return { is: 'refused', at: instance, reason: 'a report that may be of several trajectories' };
  return labelled(only, file.sha256, report);
}

function labelled(
  { session, format }: { session: Session; format: string },
  sha256: string,
  report: Payload,
): Item {
  const { resolved } = Verdict.parse(report);
  const fields = { verdict: resolved ? 'PASS' : 'FAIL', reason: resolved ? 'resolved' : 'unresolved' };
  return {
    ...{ is: 'told', session, agent_id: null, ms: null, event: 'report', of: format },
    drafts: [note(`report ${sha256}`, 'evaluation_report', { result: asJson(report) }, fields)],
  };
}
