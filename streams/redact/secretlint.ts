/**
 * secretlint's recommended rules, run by hand. Its own core keeps a mark of every rule it ever ran, for a
 * profile, searches them all at each, and lets a comment in the text switch rules off: fit for a command that
 * ends, not for a scanner that stays and reads what an agent wrote.
 */
import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import { type Hit, isPlaceholder } from './rules.ts';

type Rule = (typeof rules)[number];
type Context = Parameters<Rule['create']>[0];
type Source = Parameters<NonNullable<ReturnType<Rule['create']>['file']>>[0];

/** Hits of secretlint's recommended preset. About ten times faster a MiB on 1 MiB than on 1.5 KB. */
export async function secretlintHits(content: string): Promise<Hit[]> {
  const hits: Hit[] = [];
  const source = sourceOf(content);
  for (const rule of rules) {
    const id = rule.meta.id.replace('@secretlint/secretlint-rule-', '');
    if (id === 'filter-comments') continue;
    await rule.create(contextOf(id, content, hits), {}).file?.(source);
  }
  return hits;
}

function contextOf(rule: string, content: string, hits: Hit[]): Context {
  return {
    sharedOptions: {},
    // What a rule would say to a person; nobody reads it here.
    createTranslator: () => (messageId, data) => ({ message: '', messageId: String(messageId), data }),
    ignore: () => undefined,
    report: ({ range: [start, end] }) => {
      const text = content.slice(start, end);
      const password = /:([^:@/]*)@/.exec(text)?.[1];
      if (password !== undefined && isPlaceholder(password)) return;
      hits.push({ start, end, rule, doubtful: !isToken(text) });
    },
  };
}

function sourceOf(content: string): Source {
  const position = { line: 1, column: 0 };
  return {
    content,
    hasBOM: false,
    filePath: 'event.txt',
    physicalFilePath: undefined,
    contentType: 'text',
    ext: '.txt',
    getFilePath: () => 'event.txt',
    getPhysicalFilePath: () => undefined,
    locationToRange: () => [0, 0],
    rangeToLocation: () => ({ start: position, end: position }),
    positionToIndex: () => 0,
    indexToPosition: () => position,
  };
}

/** One unbroken token long enough to be nothing else, or a key block; anything looser a person looks at. */
function isToken(text: string): boolean {
  return text.startsWith('-----BEGIN ') || /^[^\s"'`<>(){}:@]{16,4096}$/.test(text);
}
