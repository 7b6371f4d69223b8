/**
 * Where imported records get their place: chains of their own in import.db, by the collector's own steps of
 * redaction, assembly, commit and publication. A collector may run beside it; the two share no session.
 */
import { createSecretKey } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Log } from '../../log/log.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { keyedHash, sha256 } from '../../schemas/hash.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import { type Clock, isoTime } from '../../schemas/time.ts';
import { kindOf, type SealContext, sealed } from '../capture.ts';
import { assemble, closeQuiet, isTold } from '../collector/assemble.ts';
import { chainIdentity } from '../collector/chain-identity.ts';
import { type CommitDeps, type Committer, createCommitter } from '../collector/commit.ts';
import { openDb } from '../collector/db.ts';
import { createOutbox } from '../collector/outbox.ts';
import type { Proto } from '../collector/proto.ts';
import { createPublisher } from '../collector/publish.ts';
import { createStore } from '../collector/store.ts';
import { openTraceFiles, traceFile } from '../collector/trace-files.ts';
import type { SpoolEntry } from '../draft.ts';
import type { Home } from '../home.ts';
import { loadHashKey } from '../identity-files.ts';
import { redactText } from '../redaction/text.ts';
import { createDocuments, type Documents } from './documents.ts';
import type { Session, Told } from './importer.ts';

export interface ChainsOptions {
  home: Home;
  log: Pick<Log, 'publish'>;
  clock: Clock;
  /** Bytes of one content field. */
  limit: number;
  warn: (message: string, fields: Record<string, unknown>) => void;
}

export interface Chains {
  documents: Documents;
  /** Runs work in one transaction; only within it may the others be called. */
  transaction<T>(work: () => T): T;
  /** @param ms when the record is from, and whether that is known @returns the events that are new */
  tell(format: string, told: Told, when: { ms: number; inferred: boolean }): Proto[];
  /** Whether the session is here as itself: captured live on this machine, alone or within another, or imported and given out again. */
  isHere(session: Session): 'captured' | 'already' | null;
  isRepeated(format: string, session: Session, own: string): boolean;
  remember(format: string, session: Session, folder: string): void;
  /** Of those under an original id the ones in the folder; if there are none, the last ones of any. */
  imported(format: string, originalId: string, folder: string): Remembered;
  /** Ends every session that was told of. Outside any transaction. */
  closeAll(): void;
  /** Publishes what was committed. Outside any transaction. */
  publish(): Promise<void>;
  close(): void;
}

const Remembered = z.array(z.object({ session: z.custom<Session>(), folder: z.string() }));
type Remembered = z.infer<typeof Remembered>;
const MOST_REMEMBERED = 64;

/** @throws FlipstreamError `import_running` (usage), and those of the collector's database */
export function openChains({ home, log, clock, limit, warn }: ChainsOptions): Chains {
  makeFolder(home.root);
  const db = openImportDb(join(home.root, 'import.db'));
  const store = createStore(db);
  const outbox = createOutbox(db);
  const hashKey = createSecretKey(loadHashKey(home));
  const hash = (data: string | Uint8Array) => keyedHash(hashKey, data);
  const seal: SealContext = { hash, limit, openKeys: { isOpen: () => false, set: () => {} } };
  const deps: CommitDeps = {
    ...{ store, outbox, clock, limit, redact: redactText, keyedHash: hash },
    ...{ identity: chainIdentity(db, home), capture: 'imported' },
  };
  const spool = { remove: () => {} };
  const traces = openTraceFiles(home);
  const publisher = createPublisher({ store, outbox, spool, ingest: { done: new Set() }, traces, log, warn });
  const traced = new Map<string, boolean>();
  let committer: Committer | null = null;
  const current = () => {
    committer ??= createCommitter(deps);
    return committer;
  };

  const rememberedAs = (format: string, originalId: string) => `imported ${format} ${originalId}`;
  const remembered = (name: string) => Remembered.parse(JSON.parse(store.meta(name) ?? '[]'));

  return {
    documents: createDocuments(store),
    transaction(work) {
      try {
        return store.transaction(() => {
          const result = work();
          committer?.end();
          return result;
        });
      } finally {
        committer = null;
      }
    },
    tell(format, told, { ms, inferred }) {
      const place = importedId(format, told.session.id);
      const session = current().session(place, told.session.harness);
      const context = current().context(place, 0);
      const bare = told.drafts.map((draft) => ({ ...draft, content: {} }));
      // content is redacted only of what is new
      if (isTold(session.state, entryOf(format, { ...told, drafts: bare }, { ms, inferred }, seal), context))
        return [];
      const entry = entryOf(format, told, { ms, inferred }, seal);
      const assembled = assemble(session.state, entry, context);
      const events = assembled.events.map((event) => ({ ...event, transport: null }));
      current().add(session, { ...assembled, events }, ms);
      return events;
    },
    isHere({ original_id, within = [] }) {
      const isTraced = (id: string) => traced.get(id) ?? existsSync(traceFile(home, id));
      // of a subagent's subagent only the parent is named, which was asked about before
      const here = [original_id, ...within].some(isTraced);
      if (traced.size > 10_000) traced.clear();
      traced.set(original_id, here);
      if (!here) return null;
      return original_id.startsWith(IMPORTED) ? 'already' : 'captured';
    },
    isRepeated(format, { id }, own) {
      const ours = sha256(JSON.stringify(['import', format, own, id]));
      if (store.known(ours)) return false;
      const anyones = sha256(JSON.stringify(['import', format, own]));
      if (store.known(anyones)) return true;
      store.putId(ours, -1);
      store.putId(anyones, -1);
      return false;
    },
    remember(format, session, folder) {
      const name = rememberedAs(format, session.original_id);
      for (const each of [name, `${name} in ${folder}`]) {
        const before = remembered(each);
        if (before.some((one) => one.session.id === session.id && one.folder === folder)) continue;
        store.putMeta(each, JSON.stringify([...before, { session, folder }].slice(-MOST_REMEMBERED)));
      }
    },
    imported(format, originalId, folder) {
      const name = rememberedAs(format, originalId);
      const beside = remembered(`${name} in ${folder}`);
      return beside.length > 0 ? beside : remembered(name);
    },
    closeAll() {
      for (const id of store.openSessions())
        store.transaction(() => {
          const own = createCommitter(deps);
          const session = own.session(id, '');
          const at = { ts: isoTime(session.last_ms), lastSeq: session.seq - 1 };
          const closed = closeQuiet(session.state, own.context(id, 0), at);
          // nobody knows that it was broken off: the file just ends
          const events = closed.events.map((event) =>
            event.type === 'session_end'
              ? { ...event, fields: { ...event.fields, outcome: 'no_task' } }
              : event,
          );
          own.add(session, { ...closed, events }, session.last_ms);
          own.end();
        });
    },
    async publish() {
      while (await publisher.round());
    },
    close: () => db.close(),
  };
}

function openImportDb(path: string) {
  try {
    return openDb(path);
  } catch (error) {
    if (!(error instanceof FlipstreamError) || error.code !== 'collector_running') throw error;
    const message = `Another import works on ${path}: wait until it is done.`;
    throw new FlipstreamError('import_running', 'usage', message, error);
  }
}

/** Ids of sessions have room for 256 characters; what is longer is known by its hash. */
const MAX_ID = 160;

const IMPORTED = 'import:';

/** The session under which imported events lie. */
export function importedId(format: string, id: string): string {
  return `${IMPORTED}${format}:${id.length > MAX_ID ? sha256(id) : id}`;
}

function entryOf(
  format: string,
  { session, agent_id, event, drafts }: Told,
  { ms, inferred }: { ms: number; inferred: boolean },
  seal: SealContext,
): SpoolEntry {
  const { original_id, harness_version, parent_session_id } = session;
  const fields = {
    original_id,
    ...(harness_version === undefined ? {} : { harness_version }),
    ...(inferred ? { ts_inferred: true } : {}),
  };
  const parent: SpoolEntry['drafts'][number]['fields'] =
    parent_session_id === undefined ? {} : { parent_session_id };
  return {
    ...{ v: 1, ts: isoTime(ms), session_id: importedId(format, session.id), agent_id },
    ...{ harness: session.harness, harness_event: event, registration: 'import', transport: 'command' },
    payload_hash: '',
    drafts: drafts.map((draft) =>
      sealed(
        {
          ...draft,
          fields: {
            ...fields,
            ...(draft.type === 'session_start' ? parent : {}),
            ...kindOf(draft.fields.tool_name, session.harness),
            ...draft.fields,
          },
        },
        seal,
      ),
    ),
  };
}
