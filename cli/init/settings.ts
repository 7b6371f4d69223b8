/** The change to a harness's settings file, and its undoing: pure functions on text. */
import { getNodeValue } from 'jsonc-parser';
import { z } from 'zod';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { sha256 } from '../../schemas/hash.ts';
import {
  appended,
  type Insertion,
  insert,
  layoutOf,
  member,
  type Node,
  readTree,
  without,
} from './json-text.ts';

/** What was put into one settings file, kept in our home so that it can be taken out exactly. */
export const Receipt = z.strictObject({
  v: z.literal(1),
  file: z.string(),
  /** SHA-256 of the file as we wrote it. */
  written: z.string(),
  /** False: there was no file before. */
  existed: z.boolean(),
  insertions: z.array(z.strictObject({ offset: z.number().int(), length: z.number().int() })),
  /** Paths of containers that we made: `hooks`, `hooks.Stop`. */
  made: z.array(z.string()),
  hook: z.string(),
  url: z.string().nullable(),
});
export type Receipt = z.infer<typeof Receipt>;

export interface Change {
  text: string;
  receipt: Omit<Receipt, 'file'>;
}

/** Hooks to register, by event: what stands in the harness's list for it. */
export type Entries = Readonly<Record<string, readonly object[]>>;

/**
 * Adds hooks to a settings text, as pure insertions.
 * @param before the file's text, null when there is none.
 * @param fresh what a file that is not there begins with.
 * @throws FlipstreamError `settings_broken` (usage) when it is not a JSON object, or its hooks are not.
 */
export function addHooks(
  before: string | null,
  hooks: Entries,
  marks: Pick<Receipt, 'hook' | 'url'>,
  fresh = '{}\n',
): Change {
  const source = before ?? fresh;
  const root = treeOf(source);
  const layout = layoutOf(source);
  const own = memberOf(root, 'hooks');
  const made: string[] = [];
  const insertions: Insertion[] = [];
  if (own === undefined) {
    made.push('hooks', ...Object.keys(hooks).map((event) => `hooks.${event}`));
    insertions.push(appended(source, root, [{ key: 'hooks', value: hooks }], 0, layout));
  } else {
    if (own.type !== 'object') throw broken('its "hooks" is no object');
    const missing: { key: string; value: readonly object[] }[] = [];
    for (const [event, groups] of Object.entries(hooks)) {
      const list = memberOf(own, event);
      if (list === undefined) missing.push({ key: event, value: groups });
      else if (list.type !== 'array') throw broken(`its hooks for ${event} are no list`);
      else
        insertions.push(
          appended(
            source,
            list,
            groups.map((value) => ({ value })),
            2,
            layout,
          ),
        );
    }
    made.push(...missing.map(({ key }) => `hooks.${key}`));
    if (missing.length > 0) insertions.push(appended(source, own, missing, 1, layout));
  }
  const text = insert(source, insertions);
  return {
    text,
    receipt: {
      v: 1,
      written: sha256(text),
      existed: before !== null,
      insertions: placed(insertions),
      made,
      ...marks,
    },
  };
}

/** Where the insertions lie in the finished text. */
function placed(insertions: readonly Insertion[]): Receipt['insertions'] {
  let shift = 0;
  return insertions
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ offset, text }) => {
      const at = { offset: offset + shift, length: text.length };
      shift += text.length;
      return at;
    });
}

/**
 * Takes out what `receipt` tells of. A file that nobody has touched since comes back byte for byte, but for handlers of
 * ours that were in it before; in any other, only our handlers go, and the containers that we made and that are empty now.
 * @param ours tells our handlers from those of others.
 * @returns the text, or null when the file is to be removed because there was none before.
 */
export function removeHooks(
  current: string,
  receipt: Receipt,
  ours: (handler: unknown) => boolean,
): string | null {
  if (sha256(current) === receipt.written) {
    if (!receipt.existed) return null;
    const before = receipt.insertions
      .toReversed()
      .reduce((text, { offset, length }) => text.slice(0, offset) + text.slice(offset + length), current);
    return removeHandlers(before, receipt, ours);
  }
  const text = removeHandlers(current, receipt, ours);
  return !receipt.existed && readTree(text).children?.length === 0 ? null : text;
}

function removeHandlers(current: string, { made }: Receipt, ours: (handler: unknown) => boolean): string {
  let text = current;
  for (;;) {
    const next = removeOne(text, made, ours);
    if (next === null) return text;
    text = next;
  }
}

/** One step: the first of our handlers, or a container of ours that is empty. Offsets move, so the text is read anew each time. */
function removeOne(
  text: string,
  containers: Receipt['made'],
  isOurs: (handler: unknown) => boolean,
): string | null {
  const root = treeOf(text);
  const hooks = memberOf(root, 'hooks');
  if (hooks?.type !== 'object') return null;
  const made = (path: string) => containers.includes(path);
  for (const [e, event] of (hooks.children ?? []).entries()) {
    const [key, groups] = event.children ?? [];
    if (!groups?.children) continue;
    for (const [g, group] of groups.children.entries()) {
      const ours = (node: Node) => isOurs(getNodeValue(node));
      // some harnesses list handlers, others groups of them
      if (ours(group)) return without(text, groups, g);
      const list = memberOf(group, 'hooks');
      const own = list?.children?.findIndex(ours);
      if (!list || own === undefined || own < 0) continue;
      return list.children?.length === 1 ? without(text, groups, g) : without(text, list, own);
    }
    if (groups.children.length === 0 && made(`hooks.${key?.value}`)) return without(text, hooks, e);
  }
  const at = root.children?.findIndex((part) => part.children?.[0]?.value === 'hooks') ?? -1;
  return hooks.children?.length === 0 && made('hooks') ? without(text, root, at) : null;
}

function treeOf(text: string): Node {
  const root = readable(() => readTree(text));
  if (root.type !== 'object') throw broken('it is no JSON object');
  return root;
}

const memberOf = (node: Node, key: string) => readable(() => member(node, key));

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw broken(`it is not valid JSON (${messageOf(cause)})`);
  }
}

function broken(why: string): FlipstreamError {
  return new FlipstreamError(
    'settings_broken',
    'usage',
    `The settings file was left as it is: ${why}. Mend it and run init again.`,
  );
}
