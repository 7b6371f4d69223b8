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

/**
 * Characters of a file's name. A report says it once and the id of each of its tests has it: of a longer one a small
 * report makes more than its reader's memory holds.
 */
export const FILE_NAME_LIMIT = 1024;

/** What one phase reported, and the directory that it ran in. */
export interface Report {
  text: string;
  tree: string;
}
