/** Shepherd's manifest of a trajectory folder: which scope began which, and what became of each. */
import { basename, dirname } from 'node:path';
import { z } from 'zod';
import { sha256 } from '../../schemas/hash.ts';
import { asJson, type RawDraft } from '../adapters/adapter.ts';
import { importedId } from './chains.ts';
import { note } from './drafts.ts';
import type { FileFacts, Importer, Item, Session } from './importer.ts';

const Scope = z.looseObject({
  scope_id: z.string(),
  parent_scope_id: z.string().nullish(),
  stream_file: z.string(),
  status: z.string().nullish(),
});
const Manifest = z.looseObject({ root_scope_id: z.string(), scopes: z.array(Scope) });

const FORMAT = 'shepherd';

export const shepherdManifest: Importer = {
  format: FORMAT,
  recognises: ({ root, fields, names }) =>
    root === 'object' && typeof fields.root_scope_id === 'string' && names.has('scopes'),
  shape: { split: [] },
  last: true,
  about: [FORMAT],
  open: (file) => ({
    record: () => [],
    end: (whole) => (whole ? itemsOf(file) : []),
  }),
};

function itemsOf(file: FileFacts): Item[] {
  const parsed = Manifest.safeParse(file.root);
  if (!parsed.success) return [{ is: 'refused', at: '', reason: 'not as its format has it' }];
  const { scopes, ...rest } = parsed.data;
  const sessions = new Map<string, Session>();
  for (const { scope_id, stream_file } of scopes) {
    const found = file
      .imported(basename(stream_file).replace(/\.jsonl$/, ''))
      .find(({ folder }) => folder === dirname(file.path));
    if (found) sessions.set(scope_id, found.session);
  }
  const root = sessions.get(rest.root_scope_id) ?? [...sessions.values()][0];
  if (!root) return [{ is: 'refused', at: '', reason: 'a manifest of streams that were not imported' }];
  const told = (session: Session, draft: RawDraft): Item => ({
    ...{ is: 'told', session, agent_id: null, ms: null, event: 'manifest', drafts: [draft] },
  });
  return [
    told(root, note(`manifest ${hashOf(rest)}`, 'manifest', { input: asJson(rest) })),
    ...scopes.map((scope) => {
      const parent = scope.parent_scope_id == null ? undefined : sessions.get(scope.parent_scope_id);
      const fields = {
        reason: scope.status ?? null,
        ...(parent ? { parent_session_id: importedId(FORMAT, parent.id) } : {}),
      };
      // a scope in which nothing happened has no session of its own
      const session = sessions.get(scope.scope_id) ?? root;
      return told(session, note(`scope ${hashOf(scope)}`, 'scope', { input: asJson(scope) }, fields));
    }),
  ];
}

function hashOf(value: unknown): string {
  return sha256(JSON.stringify(value)).slice(0, 32);
}
