/** `init claude-code`: what is to be written into which file, and back. Pure but for reading. */
import type { Home } from '../../producers/home.ts';
import { hooksOf, type Registration } from './registration.ts';
import { addHooks, type Receipt, removeHooks } from './settings.ts';
import { readReceipt, readSettings } from './settings-file.ts';

/** A change to one settings file, not made yet. */
export interface Plan {
  file: string;
  before: string | null;
  /** null: the file goes. */
  after: string | null;
  /** null: nothing of ours is left in it. */
  receipt: Receipt | null;
}

/**
 * The change that leaves exactly the wanted hooks of ours in a settings file, whatever an earlier init put there.
 * @throws FlipstreamError `settings_broken`, `settings_unreadable` (usage).
 */
export function planInit(home: Home, file: string, registration: Registration): Plan {
  const before = readSettings(file);
  const clean = withoutOurs(home, file, before);
  const marks = { hook: home.hook, url: registration.transport === 'http' ? registration.url : null };
  const { text, receipt } = addHooks(clean, hooksOf(registration, 'settings'), marks);
  return { file, before, after: text, receipt: { ...receipt, file } };
}

/** The change that takes out what init put in. */
export function planUndo(home: Home, file: string): Plan {
  const before = readSettings(file);
  return { file, before, after: withoutOurs(home, file, before), receipt: null };
}

/** Without a receipt (a home that was deleted, a file copied from elsewhere) our handlers are still known by the hook's path. */
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
  return removeHooks(text, readReceipt(home, file) ?? unknown);
}
