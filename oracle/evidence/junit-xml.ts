import { XMLParser } from 'fast-xml-parser';
import { z } from 'zod';
import type { ReadReport, ReportedTest, TestOutcome } from './report.ts';

const Case = z.looseObject({
  '@name': z.string(),
  '@classname': z.string().optional(),
  '@status': z.string().optional(),
  '@result': z.string().optional(),
  failure: z.unknown().optional(),
  error: z.unknown().optional(),
  skipped: z.unknown().optional(),
  disabled: z.unknown().optional(),
  ignored: z.unknown().optional(),
});

interface Suite {
  testsuite?: Suite[] | undefined;
  testcase?: z.infer<typeof Case>[] | undefined;
}

const Suite: z.ZodType<Suite> = z.looseObject({
  testsuite: z.array(z.lazy(() => Suite)).optional(),
  testcase: z.array(Case).optional(),
});

const Report = z.object({ testsuites: Suite.optional() }).and(Suite);

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseAttributeValue: false,
  isArray: (name) => name === 'testsuite' || name === 'testcase',
});

/** JUnit's XML, as many tools write it: suites may hold suites. */
export const readJunitXml: ReadReport = (text) => {
  const report = Report.safeParse(parseXml(text));
  if (!report.success) return null;
  const tests = [...testsOf(report.data), ...testsOf(report.data.testsuites ?? {})];
  return tests.length > 0 ? tests : null;
};

function parseXml(text: string): unknown {
  try {
    return parser.parse(text, true);
  } catch {
    return undefined;
  }
}

function testsOf({ testsuite = [], testcase = [] }: Suite): ReportedTest[] {
  const own = testcase.map((test) => ({
    id: [test['@classname'], test['@name']].filter((part) => part !== undefined).join('::'),
    outcome: outcomeOf(test),
  }));
  return [...own, ...testsuite.flatMap(testsOf)];
}

/** Of a test that ran and passed, in the attributes that some tools add: googletest, CTest, Catch2, Bazel. */
const PASSED = /^(run|completed|pass|passed|success|succeeded|successful|ok)$/i;
const FAILED = /^(fail|failed|failure|error)$/i;

/** A word that nobody knows is no word for a pass: `notrun`, `suppressed`, `disabled`, `ignored`. */
function outcomeOf(test: z.infer<typeof Case>): TestOutcome {
  const { error, failure, skipped, disabled, ignored } = test;
  if (error !== undefined) return 'error';
  if (failure !== undefined) return 'failed';
  if (skipped !== undefined) return JSON.stringify(skipped).includes('xfail') ? 'xfailed' : 'skipped';
  if (disabled !== undefined || ignored !== undefined) return 'skipped';
  const words = [test['@status'], test['@result']].filter((word) => word !== undefined);
  if (words.some((word) => FAILED.test(word))) return 'failed';
  return words.every((word) => PASSED.test(word)) ? 'passed' : 'skipped';
}
