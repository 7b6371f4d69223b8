/**
 * Fails when docs/reference/errors.md and the codes in the sources differ. A code is a literal beside its class,
 * `'code', 'usage'`, wherever a FlipstreamError or a helper that makes one is called; helpers of one class, as
 * `usage('code', …)`, count too. Any other code would be one that nobody can look up.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDERS = '{schemas,log,producers,streams,consumers,oracle,warehouse,jobs,cli}';
const NOT_SHIPPED = /\.test\.ts$|testing|conformance|chaos|fixture/;
const PAIR = /(['"`])([a-z][a-z0-9_]+)\1\s*,\s*'(retryable|fatal|poison|usage)'/g;
const HELPER = /\b(retryable|fatal|poison|usage)\(\s*'([a-z][a-z0-9_]+)'/g;
const MADE = /new FlipstreamError\(\s*(\w+)\b/g;
const ROW = /^\| `([a-z0-9_]+)` \| ([a-z, ]+) \|/gm;

/** Codes in the sources, each with its classes. */
function codesInSources(): { codes: Map<string, Set<string>>; passed: Map<string, string> } {
  const codes = new Map<string, Set<string>>();
  const passed = new Map<string, string>();
  const add = (code: string, kind: string) => codes.set(code, (codes.get(code) ?? new Set()).add(kind));
  for (const file of globSync(`${FOLDERS}/**/*.ts`, { cwd: ROOT }).filter(
    (name) => !NOT_SHIPPED.test(name),
  )) {
    const text = readFileSync(`${ROOT}/${file}`, 'utf8');
    for (const [, , code = '', kind = ''] of text.matchAll(PAIR)) add(code, kind);
    for (const [, kind = '', code = ''] of text.matchAll(HELPER)) add(code, kind);
    for (const [, variable = ''] of text.matchAll(MADE)) passed.set(file, variable);
  }
  return { codes, passed };
}

const page = readFileSync(`${ROOT}/docs/reference/errors.md`, 'utf8');
const documented = new Map([...page.matchAll(ROW)].map(([, code = '', kind = '']) => [code, kind.trim()]));
const { codes, passed } = codesInSources();
const problems = [...codes]
  .map(([code, kinds]) => [code, [...kinds].sort().join(', ')] as const)
  .filter(([code, kinds]) => documented.get(code) !== kinds)
  .map(
    ([code, kinds]) =>
      `${code} (${kinds}): docs/reference/errors.md says ${documented.get(code) ?? 'nothing'}.`,
  );
for (const code of documented.keys())
  if (!codes.has(code)) problems.push(`${code}: in docs/reference/errors.md and nowhere else.`);
for (const problem of problems) console.error(problem);
if (process.argv.includes('--verbose'))
  for (const [file, name] of passed) console.error(`${file}: passes ${name} on.`);
process.exit(problems.length > 0 ? 1 : 0);
