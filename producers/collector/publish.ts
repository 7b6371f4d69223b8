import type { Log, Outgoing } from '../../log/log.ts';
import { parseJson } from '../../schemas/parse-json.ts';
import { readEvent } from './event.ts';
import type { Ingest } from './ingest.ts';
import type { Outbox, OutboxRow } from './outbox.ts';
import type { SpoolFiles } from './spool-files.ts';
import type { Store } from './store.ts';
import type { TraceFiles } from './trace-files.ts';

export interface PublishDeps {
  store: Store;
  outbox: Outbox;
  spool: Pick<SpoolFiles, 'remove'>;
  ingest: Pick<Ingest, 'done'>;
  traces: TraceFiles;
  log: Pick<Log, 'publish'>;
  warn: (message: string, fields: Record<string, unknown>) => void;
  /** A trace file was found shorter than it was left. */
  onShortFile?: (sessionId: string, bytes: number) => void;
}

export interface Publisher {
  /**
   * One round: committed events to their trace files, then to the log, then their spool files away.
   * @returns whether it moved anything @throws what the log or the disk says; nothing is lost by it
   */
  round(): Promise<boolean>;
  published: number;
}

const ROUND_BYTES = 4 * 2 ** 20;
const FILES_AT_ONCE = 8;

export function createPublisher(deps: PublishDeps): Publisher {
  const { store, outbox, spool, ingest, traces, log } = deps;
  /** Rows up to here are in their trace files, but for those of stuck sessions. */
  let appended = 0;
  /** Sessions whose trace file refuses, with the first row that is not in it. */
  const stuck = new Map<string, number>();
  let removed: string[] = [];

  async function appendSome(): Promise<unknown> {
    const groups = new Map<string, OutboxRow[]>();
    for (const [session, from] of stuck) groups.set(session, outbox.ofSession(session, from));
    const rows = outbox.after(appended, ROUND_BYTES);
    for (const row of rows) {
      const group = groups.get(row.session) ?? [];
      if (!stuck.has(row.session)) group.push(row);
      groups.set(row.session, group);
    }
    let failure: unknown = null;
    const queue = [...groups.entries()];
    const worker = async () => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const [session, lines] = next;
        const first = lines[0];
        if (!first) {
          stuck.delete(session);
          continue;
        }
        try {
          await appendTo(session, first.n, lines);
          const last = lines.at(-1)?.n ?? first.n;
          const more = stuck.has(session) ? outbox.ofSession(session, last + 1)[0] : undefined;
          if (more && more.n <= Math.max(appended, rows.at(-1)?.n ?? 0)) stuck.set(session, more.n);
          else stuck.delete(session);
        } catch (error) {
          failure = error;
          stuck.set(session, first.n);
        }
      }
    };
    await Promise.all(Array.from({ length: FILES_AT_ONCE }, worker));
    appended = rows.at(-1)?.n ?? appended;
    return failure;
  }

  async function appendTo(session: string, from: number, rows: readonly OutboxRow[]): Promise<void> {
    const lines = rows.map((row) => row.line);
    const missing = await traces.append(session, lines, () => outbox.bytesBefore(session, from));
    if (missing === 0) return;
    deps.warn('a trace file was cut short; its events are in the log', { missing });
    store.transaction(() => outbox.lost(session, missing));
    deps.onShortFile?.(session, missing);
  }

  function clean(): void {
    const names = outbox.finished().filter((name) => !removed.includes(name));
    if (names.length === 0) return;
    spool.remove(names);
    removed.push(...names);
  }

  const publisher: Publisher = {
    published: 0,
    async round() {
      const failure = await appendSome();
      const rows = outbox.oldest(appended, [...stuck.keys()], ROUND_BYTES);
      if (rows.length > 0) {
        await log.publish(rows.map(outgoing));
        store.transaction(() => {
          outbox.published(rows);
          outbox.forget(removed);
        });
        for (const name of removed) ingest.done.delete(name);
        removed = [];
        publisher.published += rows.length;
      }
      clean();
      if (failure) throw failure;
      return rows.length > 0;
    },
  };
  return publisher;
}

function outgoing({ session, line }: OutboxRow): Outgoing {
  return { topic: 'trace.raw', key: session, value: readEvent(parseJson(line)) };
}
