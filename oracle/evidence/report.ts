/** What a test framework says of its tests. */

export type TestOutcome = 'passed' | 'failed' | 'skipped' | 'xfailed' | 'error';

export interface ReportedTest {
  id: string;
  outcome: TestOutcome;
}

/** What a test says that was seen not to pass. */
export const failed = (outcome: TestOutcome): boolean => outcome === 'failed' || outcome === 'error';

/**
 * Reads a report.
 * @param tree the directory that file names in ids are told relative to.
 * @returns one entry for each time that a test is reported, or null when it is no report.
 */
export type ReadReport = (text: string, tree: string) => ReportedTest[] | null;

/** What one phase reported, and the directory that it ran in. */
export interface Report {
  text: string;
  tree: string;
}
