/** The hook's floor patterns; redaction-damage.test.ts is about the second scan. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { redactText } from '../../producers/redaction/text.ts';

const FOLDER = fileURLToPath(new URL('../../../shared/data/trajectories', import.meta.url));
const there = existsSync(FOLDER);
if (!there && !process.env.CI)
  console.error(
    'skipped: ../shared/data/trajectories is not beside this clone, so there is nothing to damage.',
  );

interface Found {
  rule: string;
  secret: string;
  /** The line it stood in, up to it and after it. */
  around: [string, string];
}

/** Every string of a JSON value, keys too. */
function strings(value: unknown, out: string[] = []): string[] {
  if (typeof value === 'string') out.push(value);
  else if (Array.isArray(value)) for (const item of value) strings(item, out);
  else if (typeof value === 'object' && value !== null)
    for (const [key, item] of Object.entries(value)) {
      out.push(key);
      strings(item, out);
    }
  return out;
}

function valuesOf(path: string): unknown[] {
  const text = readFileSync(path, 'utf8');
  if (!path.endsWith('.jsonl')) return [JSON.parse(text)];
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): unknown => JSON.parse(line));
}

/** What stood where the markers are: what is not replaced must be there still, in order. */
function replaced(before: string, after: string): Found[] {
  const parts = after.split(/\[REDACTED:([\w-]+)\]/);
  const found: Found[] = [];
  let at = parts[0]?.length ?? 0;
  expect(before.startsWith(parts[0] ?? '')).toBe(true);
  for (let n = 1; n < parts.length; n += 2) {
    const rest = parts[n + 1] ?? '';
    const next = n + 2 >= parts.length ? before.length - rest.length : before.indexOf(rest, at);
    expect(before.slice(next, next + rest.length)).toBe(rest);
    const line = before.slice(before.lastIndexOf('\n', at - 1) + 1, at);
    found.push({
      rule: parts[n] ?? '',
      secret: before.slice(at, next),
      around: [line, rest.split('\n')[0] ?? ''],
    });
    at = next + rest.length;
  }
  return found;
}

const files = there
  ? readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.(?:jsonl|json|traj)$/.test(name),
    )
  : [];
const texts = files.flatMap((name) => valuesOf(join(FOLDER, name)).flatMap((value) => strings(value)));

function hits(): Found[] {
  return texts.flatMap((text) => {
    const { text: after, hits: count } = redactText(text);
    if (count === 0) expect(after).toBe(text);
    return count === 0 ? [] : replaced(text, after);
  });
}

function perRule(found: readonly Found[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { rule } of found) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}

const HARMLESS: readonly [string, RegExp][] = [
  ['a uuid', /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i],
  ['a hash', /^(?:[0-9a-f]{7,12}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/i],
  ['an id of a harness', /^(?:toolu|msg|req|call|chatcmpl|session)[_-]/],
  ['a path', /^(?:~|\.{1,2})?\/[\w.-]+(?:\/[\w.-]+)*$|^[\w.-]+(?:\/[\w.-]+)+$/],
  ['a file', /^[\w-]+\.(?:py|ts|js|json|toml|ya?ml|md|txt|cfg|sh|lock|rst)$/],
  [
    'a name of a tool',
    /^(?:mcp__\w+|Bash|Read|Edit|Write|Glob|Grep|Task|str_replace_editor|submit|bash|edit)$/,
  ],
  ['a line or hunk of a diff', /\n[+-]|^@@|^diff --git|^index [0-9a-f]+\.\./],
  ['more than a line', /\n/],
  ['a call or a reference', /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*(?:\(|\[|$)/],
];

describe.skipIf(!there && !process.env.CI)('the floor on real trajectories', () => {
  test('R1 redaction replaces half the text and the replay breaks: the damage is 0', {
    timeout: 60_000,
  }, () => {
    expect(files).toHaveLength(12);
    expect(texts.length).toBeGreaterThan(1_000);
    const found = hits();
    for (const { rule, secret, around } of found) {
      const harmless = HARMLESS.filter(([, form]) => form.test(secret)).map(([what]) => what);
      expect({ rule, secret, around, harmless }).toMatchObject({ harmless: [] });
    }
    expect(perRule(found)).toEqual([]);
  });

  test('R1 with a secret planted in every long text, that one goes and all round it stays', () => {
    const secret = ['gh', 'p_', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('');
    const long = texts.filter((text) => text.length > 400);
    expect(long.length).toBeGreaterThan(200);
    for (const text of long) {
      const at = text.indexOf('\n') + 1;
      const { text: after, hits: count } = redactText(`${text.slice(0, at)}${secret}\n${text.slice(at)}`);
      expect(count).toBe(1);
      expect(after.replace(/\[REDACTED:[\w-]+\]\n/, '')).toBe(text);
    }
  });

  test('R1 what would be damaged is in these trajectories: uuids, hashes, tool ids, diffs, names of tools', () => {
    const all = texts.join('\n');
    for (const form of [
      /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-/,
      /\b[0-9a-f]{40}\b/,
      /toolu_\w+/,
      /^diff --git /m,
      /^@@ /m,
    ])
      expect(all).toMatch(form);
  });
});
