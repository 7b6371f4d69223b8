import { FILE_NAME_LIMIT, type ReadReport, type ReportedTest, type TestOutcome } from './report.ts';

const RUNNING = /^\s*Running (?:unittests )?(\S+)(?: \(.+\))?$/;
const DOC_TESTS = /^\s*Doc-tests (\S+)$/;
// Linear, since graded code prints such lines too: what follows the outcome is always the rest, whatever it holds.
const TEST = /^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:, .*)?$/s;

const OUTCOMES = new Map<string, TestOutcome>([
  ['ok', 'passed'],
  ['FAILED', 'failed'],
  ['ignored', 'skipped'],
]);

/** What `cargo test` prints, both streams in one: stable Rust has no other form. */
export const readCargoText: ReadReport = (text) => {
  const tests: ReportedTest[] = [];
  let target = '';
  for (const line of text.split('\n')) {
    const named = (RUNNING.exec(line) ?? DOC_TESTS.exec(line))?.[1];
    if (named && named.length > FILE_NAME_LIMIT) return null;
    target = named ?? target;
    const test = TEST.exec(line);
    const outcome = OUTCOMES.get(test?.[2] ?? '');
    if (test && outcome) tests.push({ id: `${target}::${test[1]}`, outcome });
  }
  return tests.length > 0 ? tests : null;
};
