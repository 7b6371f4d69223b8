import { relative } from 'node:path';
import { z } from 'zod';
import { parseJson } from './json-lines.ts';
import { FILE_NAME_LIMIT, type ReadReport, type TestOutcome } from './report.ts';

const Report = z.looseObject({
  testResults: z.array(
    z.looseObject({
      name: z.string().max(FILE_NAME_LIMIT),
      status: z.string(),
      assertionResults: z.array(
        z.looseObject({ ancestorTitles: z.array(z.string()), title: z.string(), status: z.string() }),
      ),
    }),
  ),
});

const OUTCOMES = new Map<string, TestOutcome>([
  ['passed', 'passed'],
  ['failed', 'failed'],
  ['todo', 'xfailed'],
]);

/**
 * The JSON reporter of jest, which vitest has too. Whatever neither passed nor failed was not run; a test that is
 * expected to fail is marked `todo` by programs of ours (reporters.ts).
 */
export const readJestJson: ReadReport = (text, tree) => {
  const parsed = Report.safeParse(parseJson(text));
  if (!parsed.success) return null;
  const tests = parsed.data.testResults.flatMap(({ name, status, assertionResults }) => {
    const file = relative(tree, name);
    const told = assertionResults.map((test) => ({
      id: [file, ...test.ancestorTitles, test.title].join(' > '),
      outcome: OUTCOMES.get(test.status) ?? ('skipped' as const),
    }));
    // A file that could not be loaded has no tests.
    return told.length === 0 && status === 'failed' ? [{ id: file, outcome: 'error' as const }] : told;
  });
  return tests.length > 0 ? tests : null;
};
