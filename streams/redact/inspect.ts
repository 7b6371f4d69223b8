import { CONTENT_FIELDS, type ContentField, contentOf } from '../../schemas/content.ts';
import type { TraceEvent } from '../../schemas/generated.ts';
import { encodedRuns } from './encoded.ts';
import type { Replacement, Scanned } from './redact.ts';
import type { Hit } from './rules.ts';
import { mapStrings, stringsOf, viewOf } from './strings.ts';

/** A text to take out of an event, under the rule that knows it. */
interface Secret {
  text: string;
  rule: string;
  instead: string;
}

/** Rounds of replacing and looking again; what is still hit after them is doubtful. */
const ROUNDS = 3;
/** Characters; of a shorter secret only what has the same neighbours is replaced. */
const SHORTEST = 8;

/**
 * A close look at one event by itself: certain hits become `[REDACTED:rule]` wherever their text stands in
 * the event, until nothing is hit any more; any doubtful hit, or one that cannot be taken out, is doubt.
 */
export async function inspect(event: TraceEvent, hitsOf: (text: string) => Promise<Hit[]>): Promise<Scanned> {
  const now = new Map<ContentField, string>();
  for (const field of CONTENT_FIELDS) {
    const content = contentOf(event, field);
    if (content) now.set(field, content);
  }
  const replacements: Replacement[] = [];
  const rules = new Set<string>();
  for (let round = 0; round < ROUNDS; round++) {
    const { secrets, doubts } = await secretsOf([...now.values()], hitsOf);
    for (const rule of [...secrets.map((secret) => secret.rule), ...doubts]) rules.add(rule);
    // What is doubtful may have been nothing but a certain hit seen with other eyes: first that goes.
    if (secrets.length === 0) {
      if (doubts.length > 0) return { found: 'doubt', rules: [...rules].sort() };
      return replacements.length > 0 ? { found: 'replaced', replacements } : { found: 'nothing' };
    }
    for (const [field, content] of now) now.set(field, takeOut(field, content, secrets, replacements));
  }
  return { found: 'doubt', rules: [...rules].sort() };
}

async function secretsOf(contents: readonly string[], hitsOf: (text: string) => Promise<Hit[]>) {
  const secrets = new Map<string, Secret>();
  const doubts: string[] = [];
  const take = (text: string, rule: string, around: [string, string] = ['', '']) => {
    const whole = around[0] + text + around[1];
    if (!secrets.has(whole))
      secrets.set(whole, { text: whole, rule, instead: `${around[0]}[REDACTED:${rule}]${around[1]}` });
  };
  const takeFrom = (text: string, { start, end, rule, doubtful }: Hit) => {
    const found = text.slice(start, end);
    if (!doubtful && found.length >= SHORTEST) take(found, rule);
    // Nothing shorter is replaced wherever it stands: it might stand in any word.
    else if (!doubtful)
      take(found, rule, [text.slice(Math.max(0, start - 1), start), text.slice(end, end + 1)]);
    else if (!found.includes('[REDACTED:')) doubts.push(rule);
  };
  const texts = contents.flatMap((content) => {
    const strings = stringsOf(content);
    // In JSON a name and its value are two strings: rules that need both read the view.
    return strings.length === 1 && strings[0] === content ? [content] : [strings.join('\n'), viewOf(content)];
  });
  for (const text of texts) {
    for (const hit of narrowest(await hitsOf(text))) takeFrom(text, hit);
    for (const { run, decoded, how } of encodedRuns(text))
      for (const { rule, doubtful } of await hitsOf(decoded)) {
        if (doubtful) doubts.push(`${rule}-in-${how}`);
        else take(run, `${rule}-in-${how}`);
      }
  }
  // The longest first: a secret may hold another.
  const ordered = [...secrets.values()].sort(
    (a, b) => b.text.length - a.text.length || (a.text < b.text ? -1 : 1),
  );
  return { secrets: ordered, doubts };
}

/** Without hits around a certain one inside them: of a whole address, only the password goes. */
function narrowest(hits: readonly Hit[]): Hit[] {
  const certain = hits.filter(({ doubtful }) => !doubtful);
  return hits.filter(
    (hit) =>
      !certain.some(
        (other) =>
          other.start >= hit.start && other.end <= hit.end && other.end - other.start < hit.end - hit.start,
      ),
  );
}

/** Replaces secrets one rule after another, so that each step has its own place in `redactions`. */
function takeOut(
  field: ContentField,
  content: string,
  secrets: readonly Secret[],
  replacements: Replacement[],
): string {
  let before = content;
  for (const { text, rule, instead } of secrets) {
    const after = mapStrings(before, (string) => string.replaceAll(text, () => instead));
    if (after === before) continue;
    const last = replacements.at(-1);
    if (last?.field === field && last.rule === rule) last.after = after;
    else replacements.push({ field, rule, after });
    before = after;
  }
  return before;
}
