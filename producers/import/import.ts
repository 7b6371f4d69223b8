/** `flipstream import`: files that harnesses left, through the steps that live events take, into chains of their own. */
import { dirname } from 'node:path';
import { ZodError } from 'zod';
import { type Chains, type ChainsOptions, openChains } from './chains.ts';
import {
  type Counts,
  countEvents,
  countsOf,
  newReport,
  type Refusal,
  type Report,
  refuse,
} from './counts.ts';
import { factsOf } from './file-facts.ts';
import { recognise } from './formats.ts';
import type { Importer, Item, Reader, Session, Told } from './importer.ts';
import { isPacked, openSource, type Source, unharmed } from './open.ts';
import { peek } from './peek.ts';
import { placeText, type Read, recordsOf } from './records.ts';
import { sidecarOf } from './sidecars.ts';
import { type Found, reasonOf, walk } from './walk.ts';

export interface ImportOptions extends ChainsOptions {
  paths: readonly string[];
  /** Told often: bytes of files done, of all. */
  progress?: (done: number, all: number) => void;
  /** Stops between two parts of a file; what was read by then is in the log. */
  signal?: AbortSignal;
}

/** Bytes committed before they are published. */
const PUBLISH_BYTES = 8 * 2 ** 20;

const DAMAGED = 'a compressed file that is damaged or cut off';

/**
 * Imports every trajectory under the paths.
 * @throws FlipstreamError `import_running` (usage), what the log says, or the signal's reason
 */
export async function importPaths(options: ImportOptions): Promise<Report> {
  const report = newReport();
  const chains = openChains(options);
  try {
    // what an import that was killed had committed
    await chains.publish();
    const { files, refused } = await walk(options.paths);
    for (const one of refused) refuse(report, { ...one, at: null });
    const all = files.reduce((sum, { bytes }) => sum + bytes, 0);
    let done = 0;
    const late: Found[] = [];
    const one = async (found: Found, last: boolean) => {
      options.signal?.throwIfAborted();
      const progress = (bytes: number) => options.progress?.(done + Math.min(bytes, found.bytes), all);
      if (!(await importFile(found, { options, chains, report, last, progress }))) late.push(found);
      else done += found.bytes;
      progress(0);
    };
    for (const found of files) await one(found, false);
    for (const found of late.splice(0)) await one(found, true);
    chains.closeAll();
    await chains.publish();
    return report;
  } finally {
    chains.close();
  }
}

interface Run {
  options: ImportOptions;
  chains: Chains;
  report: Report;
  /** Whether it is the turn of formats that come last. */
  last: boolean;
  /** Told how many bytes of the file were read, unpacked. */
  progress: (bytes: number) => void;
}

/** @returns false when the file is to be read after all others */
async function importFile(found: Found, run: Run): Promise<boolean> {
  const { options, chains, report, last } = run;
  const refuseFile = (reason: string) => refuse(report, { path: found.path, at: null, reason });
  let counts: Counts | null = null;
  try {
    const source = await openSource(found);
    const look = peek(source.head);
    const sidecar = sidecarOf(found.path, look);
    if (sidecar !== null) {
      report.sidecars[sidecar] = (report.sidecars[sidecar] ?? 0) + 1;
      return true;
    }
    const importer = recognise(look);
    if (!importer) {
      if (found.named || look.root !== null)
        refuseFile(source.head.length === 0 ? 'an empty file' : 'no format that is known');
      else report.skipped++;
      return true;
    }
    if (importer.last === true && !last) return false;
    counts = countsOf(report, importer.format);
    counts.files += found.parts.length;
    const during = (bytes: number) => {
      options.signal?.throwIfAborted();
      run.progress(bytes / 2);
    };
    const facts = await factsOf(source, { importer, chains, look, during });
    await readAll(source, { ...run, importer, reader: importer.open(facts), counts });
    return true;
  } catch (error) {
    if (options.signal?.aborted || !isOfFile(error)) throw error;
    if (counts) {
      counts.read++;
      counts.refused++;
    }
    refuseFile(isPacked(error) ? DAMAGED : reasonOf(error));
    return true;
  }
}

interface Reading extends Run {
  importer: Importer;
  reader: Reader;
  counts: Counts;
}

async function readAll(source: Source, reading: Reading): Promise<void> {
  const { importer, reader, chains, counts, options, progress } = reading;
  const records = recordsOf(importer);
  const teller = createTeller(source, reading);
  // a document was read once before
  const before = importer.shape === 'lines' ? 0 : source.bytes;
  let damaged = false;
  let unpublished = 0;
  let bytes = 0;
  for await (const chunk of unharmed(source, () => {
    damaged = true;
  })) {
    options.signal?.throwIfAborted();
    bytes += chunk.length;
    counts.bytes += chunk.length;
    progress(before === 0 ? bytes : (before + Math.min(bytes, before)) / 2);
    const reads = records.feed(chunk);
    if (reads.length > 0) chains.transaction(() => teller.all(reads));
    unpublished += chunk.length;
    if (unpublished < PUBLISH_BYTES) continue;
    unpublished = 0;
    await chains.publish();
  }
  const { reads, whole } = records.end();
  chains.transaction(() => {
    if (damaged) teller.refused(null, DAMAGED);
    // a line that the damage cut is not refused once more
    else teller.all(reads);
    if (!damaged && !whole) teller.refused(null, 'a document that is cut off');
    for (const item of reader.end(whole && !damaged)) teller.item(item, null);
  });
  await chains.publish();
}

function createTeller(source: Source, { importer, reader, chains, report, counts, options }: Reading) {
  const { format, shape } = importer;
  const folder = dirname(source.path);
  const sessions = new Set<string>();
  /** The last time known: what has no clock happened then. */
  let lastMs: number | null = null;

  function refused(at: string | null, reason: string): void {
    counts.read++;
    counts.refused++;
    const refusal: Refusal = { path: source.path, at, reason };
    refuse(report, refusal);
  }

  function met(session: Session): void {
    if (sessions.has(session.id)) return;
    // files of many sessions, each done when the next begins
    if (sessions.size > 10_000) sessions.clear();
    sessions.add(session.id);
    counts.sessions++;
    chains.remember(format, session, folder);
  }

  function told(one: Told): void {
    counts.read++;
    const here = chains.isHere(one.session);
    if (here !== null) {
      counts[here]++;
      return;
    }
    met(one.session);
    lastMs = one.ms ?? lastMs;
    const ms = Math.floor(Math.min(lastMs ?? source.mtimeMs, options.clock()));
    const when = { ms, inferred: one.ms === null };
    const events = chains.tell(one.of ?? format, one, when);
    countEvents(report, counts, events);
    if (events.length === 0) counts.already++;
    else if (events.some(({ type }) => type !== 'notice')) counts.mapped++;
    else counts.notices++;
  }

  function item(one: Item, at: string | null): void {
    if (one.is === 'told') told(one);
    else if (one.is === 'refused') refused(at ?? one.at, one.reason);
    else {
      counts.read++;
      counts.repeated++;
    }
  }

  return {
    item,
    refused,
    all(reads: readonly Read[]): void {
      for (const { place, value, wrong } of reads) {
        const at = placeText(place, shape);
        if (wrong !== null) refused(at, wrong);
        // fields of the root were read before
        else if (shape === 'lines' || place.index !== null)
          for (const each of itemsOf(reader, value, place)) item(each, at);
      }
    },
  };
}

/** A record that is not of the form that its format has refuses itself, never its neighbours. */
function itemsOf(reader: Reader, value: unknown, place: Read['place']): Item[] {
  try {
    return reader.record(value, place);
  } catch (error) {
    return [{ is: 'refused', at: '', reason: `not as its format has it${fieldOf(error)}` }];
  }
}

/** The field that is not as it should be; never its value. */
function fieldOf(error: unknown): string {
  if (!(error instanceof ZodError)) return '';
  const path = error.issues[0]?.path.join('.') ?? '';
  return path === '' ? '' : ` (${path})`;
}

/** The file's own fault, which keeps no other file from being imported. */
function isOfFile(error: unknown): boolean {
  return (
    isPacked(error) || (error instanceof Error && 'syscall' in error && 'path' in error) || isGone(error)
  );
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'EACCES');
}
