/** What a format is to the import: how it is recognised, and what each of its records tells. Pure. */
import type { RawDraft } from '../adapters/adapter.ts';
import type { Peek } from './peek.ts';

/** A session in a file. */
export interface Session {
  /** Its events lie under `import:<format>:<id>`. */
  id: string;
  /** Its id where it was recorded, or what comes nearest to one. */
  original_id: string;
  harness: string;
  harness_version?: string | undefined;
  parent_session_id?: string | undefined;
  /** Of a subagent: the sessions that its hooks would have told of it in. */
  within?: readonly string[];
}

/** What one record of a file says of a session. */
export interface Told {
  is: 'told';
  session: Session;
  /** Set inside a subagent only. */
  agent_id: string | null;
  /** Milliseconds since the epoch; null where the record has no clock. */
  ms: number | null;
  /** The record's own kind. */
  event: string;
  /** Each with an id of its own (`own_id`), so that a file read twice tells nothing twice. */
  drafts: RawDraft[];
  /** The format that the session is of, when it is another file's. */
  of?: string;
}

export type Item =
  | Told
  /** A record that could not be read. */
  | { is: 'refused'; at: string; reason: string }
  /** A record that only says again what another record of the format says. */
  | { is: 'repeated'; reason: string };

/** Where a record stands in its file. */
export interface Place {
  /** Field of the root object, or null. */
  key: string | null;
  /** From 0: in the array, or among the lines. */
  index: number | null;
}

export interface FileFacts {
  path: string;
  /** SHA-256 of an unpacked document. */
  sha256: string;
  /** For formats whose sessions have no id: the document's, and whether an earlier state of it had it first. */
  document: { id: string; grown: boolean };
  /** Fields of a document's root but for those that are cut up. */
  root: Readonly<Record<string, unknown>>;
  /** The beginning of the file. */
  peek: Peek;
  /**
   * The id of a document that is a record: by its place and its parts, as a document that is a file is known.
   * @param name the id that it gives itself, which others may, too
   */
  identify: (record: {
    value: unknown;
    parts: readonly unknown[];
    index: number | null;
    name?: string | undefined;
  }) => string;
  /** Whether an earlier file, or an earlier import, had this record: history that a fork repeats. Notes it, too. */
  isRepeated: (session: Session, own: string) => boolean;
  /** Sessions imported under an original id, by folder of their file: those that lie beside this file, where there are any. */
  imported: (originalId: string) => { format: string; session: Session; folder: string }[];
}

export interface Reader {
  /** One line, one element of an array that is cut up. */
  record: (value: unknown, place: Place) => Item[];
  /** What can be said only when all was read. @param whole the file was not cut off */
  end: (whole: boolean) => Item[];
}

export interface Importer {
  format: string;
  recognises: (peek: Peek) => boolean;
  /** `lines`: JSON Lines. Otherwise a document, of which these arrays are cut up (the root array always is). */
  shape: 'lines' | { split: readonly string[]; skip?: readonly string[] };
  /** Read after those without: it speaks of sessions that others tell. */
  last?: boolean;
  /** The formats whose sessions it may speak of. */
  about?: readonly string[];
  /** Told of each element of an array that is cut up, in the first reading: keeps in `root` what it must know before. */
  survey?: (root: Record<string, unknown>, key: string, value: unknown) => void;
  open: (file: FileFacts) => Reader;
}
