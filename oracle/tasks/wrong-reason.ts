import { passed, type RunResult } from '../runner/runner.ts';

/**
 * Failures that say nothing about the behaviour a task is about (chapter 3: "for the right reason"): an agent could
 * flip such a test by adding the file or the name that is missing.
 */
const SIGNS: readonly [name: string, sign: RegExp][] = [
  ['a missing fixture', /fixture '[^']+' not found/],
  [
    'an import error',
    /\b(ModuleNotFoundError|ImportError)\b|Cannot find (module|package)|ERR_MODULE_NOT_FOUND|does not provide an export named|no required module provides package|package \S+ is not in std|Failed to resolve import/,
  ],
  [
    'a syntax error',
    /\b(SyntaxError|IndentationError|TabError)\b|^\.?\/?\S+\.go:\d+:\d+: syntax error|error: expected .+, found/m,
  ],
  [
    'code that does not compile',
    /\[build failed\]|\berror\[E\d{4}\]|could not compile `|error TS\d{4}:|undefined: \w+|COMPILATION ERROR/,
  ],
  [
    'an error during collection',
    /errors? during collection|ERROR collecting|no tests ran|No test files found|No tests found|Ran 0 tests|# tests 0\b/,
  ],
  ['a missing file', /\bFileNotFoundError\b|\bENOENT\b|No such file or directory/],
];

/** What of a baseline's hidden tests looks like a failure for the wrong reason, or null. */
export function wrongReason(run: RunResult): string | null {
  for (const phase of run.hidden) {
    if (passed(phase)) continue;
    const sign = SIGNS.find(([, pattern]) => pattern.test(phase.output));
    if (sign) return sign[0];
  }
  return null;
}
