/**
 * Fails when docs/reference/errors.md and the codes in the sources differ, or a code is not written out as a
 * literal and so can't be looked up.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = '{schemas,log,producers,streams,consumers,oracle,warehouse,jobs,cli}';
const MADE =
  /new FlipstreamError\(\s*(?:(['"`])([a-z0-9_]+)\1\s*,\s*(['"`])(retryable|fatal|poison|usage)\3)?/g;

/** Codes in the sources, with their classes and where one is not a literal. */
function codesInSources(): { codes: Map<string, Set<string>>; unclear: string[] } {
  const codes = new Map<string, Set<string>>();
  const unclear: string[] = [];
  for (const file of globSync(`${FOLDERS}/**/*.ts`, { cwd: ROOT }).filter(
    (name) => !/\.test\.ts$|testing/.test(name),
  )) {
    for (const [, , code, , kind] of readFileSync(`${ROOT}/${file}`, 'utf8').matchAll(MADE)) {
      if (code === undefined || kind === undefined) unclear.push(file);
      else codes.set(code, (codes.get(code) ?? new Set()).add(kind));
    }
  }
  return { codes, unclear };
}

/** Rows of the page's table: code and class. */
function codesInDocs(): Map<string, string> {
  const page = readFileSync(`${ROOT}/docs/reference/errors.md`, 'utf8');
  return new Map(
    [...page.matchAll(/^\| `([a-z0-9_]+)` \| ([a-z, ]+) \|/gm)].map(([, code = '', kind = '']) => [
      code,
      kind.trim(),
    ]),
  );
}

const { codes, unclear } = codesInSources();
const documented = codesInDocs();
const problems = [
  ...unclear.map((file) => `${file}: a FlipstreamError whose code and class are no literals.`),
  ...[...codes]
    .filter(([code]) => !documented.has(code))
    .map(([code, kinds]) => `${code} (${[...kinds].join(', ')}) is not in docs/reference/errors.md.`),
  ...[...codes]
    .filter(([code, kinds]) => documented.has(code) && documented.get(code) !== [...kinds].sort().join(', '))
    .map(
      ([code, kinds]) => `${code} is ${[...kinds].sort().join(', ')}, the page says ${documented.get(code)}.`,
    ),
  ...[...documented.keys()]
    .filter((code) => !codes.has(code))
    .map((code) => `${code} is in docs/reference/errors.md and nowhere else.`),
];
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);
