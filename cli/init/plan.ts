/** What is to be written into a harness's file, and back: pure but for reading. */
import type { Home } from '../../producers/home.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { handlersIn, oursAmong } from './ours.ts';
import { addHooks, type Entries, type Receipt, removeHooks } from './settings.ts';
import { readReceipt, readSettings } from './settings-file.ts';

/** A change to one file, not made yet. */
export interface Plan {
  file: string;
  before: string | null;
  /** null: the file goes. */
  after: string | null;
  /** null: nothing of ours is left in it, or the file is ours as a whole. */
  receipt: Receipt | null;
  /** Whether the harness runs the file itself. */
  executable?: boolean;
}

/** One file of a harness, and what we want in it: entries among others' hooks, or the whole of it. */
export type Target =
  | {
      kind: 'entries';
      file: string;
      hooks: Entries;
      /** Of the http transport. */
      url?: string | null;
      /** What a file that is not there begins with. */
      fresh?: string;
    }
  | { kind: 'whole'; file: string; text: string; executable?: boolean };

/**
 * The change that leaves exactly the wanted hooks of ours in a file, whatever an earlier init put there.
 * @throws FlipstreamError `settings_broken`, `settings_unreadable`, `file_not_ours` (usage).
 */
export function planInit(home: Home, target: Target): Plan {
  const { file } = target;
  const before = readSettings(file);
  if (target.kind === 'whole') {
    const { text, executable = false } = target;
    if (before !== null && !before.includes(home.hook))
      throw new FlipstreamError(
        'file_not_ours',
        'usage',
        `${file} is there already and not ours: move it away, or add to it what our file does: ${oneLine(text)}`,
      );
    return { file, before, after: text, receipt: null, executable };
  }
  const clean = withoutOurs(home, file, before);
  const marks = { hook: home.hook, url: target.url ?? null };
  const { text, receipt } = named(file, () => addHooks(clean, target.hooks, marks, target.fresh));
  return { file, before, after: text, receipt: { ...receipt, file } };
}

/** The change that takes out what init put in. A whole file that is not ours stays. */
export function planUndo(home: Home, target: Pick<Target, 'kind' | 'file'>): Plan {
  const { file, kind } = target;
  const before = readSettings(file);
  if (kind === 'whole') {
    const ours = before?.includes(home.hook) === true;
    return { file, before, after: ours ? null : before, receipt: null };
  }
  return { file, before, after: withoutOurs(home, file, before), receipt: null };
}

/** What is wrong with a file names it. */
function named<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof FlipstreamError) || error.code !== 'settings_broken') throw error;
    throw new FlipstreamError(error.code, error.kind, `${file}: ${error.message}`, error);
  }
}

function oneLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}

/** Without a receipt (a home that was deleted, a file copied from elsewhere) our handlers are still known by the hook's path, and by where they post. */
function withoutOurs(home: Home, file: string, text: string | null): string | null {
  if (text === null) return null;
  const unknown: Receipt = {
    v: 1,
    file,
    written: '',
    existed: true,
    insertions: [],
    made: [],
    hook: home.hook,
    url: null,
  };
  const receipt = readReceipt(home, file) ?? unknown;
  const ours = oursAmong(handlersIn(text), home, receipt);
  return named(file, () => removeHooks(text, receipt, ours));
}
