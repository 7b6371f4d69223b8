/**
 * cargo test on the process runner, where a Rust toolchain is installed; the containers' image has none. What it prints
 * is read elsewhere as recorded text (oracle/evidence): here it is the tool itself, of whatever release.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RUN_PATH } from '../../oracle/environment.ts';
import { gradeDiff } from '../../oracle/grade-diff.ts';
import { processRunner } from '../../oracle/runner/process.ts';
import { taskAdd } from '../../oracle/tasks/add.ts';
import { taskCheck } from '../../oracle/tasks/check.ts';
import { knownTask } from '../../oracle/tasks/store.ts';
import {
  makeOracle,
  makeRepository,
  runGit,
  taskDirectory,
  temporaryDirectory,
} from '../../oracle/testing.ts';

/** Not rustup's stand-in for it, which looks for toolchains in a home that graded code does not get. */
const sysroot = spawnSync('rustc', ['--print', 'sysroot'], { encoding: 'utf8' });
const skipped = sysroot.status === 0 ? null : 'no Rust toolchain is installed';
if (skipped) console.warn(`the tests of cargo are skipped: ${skipped}`);

const lib = (body: string) => `pub fn total(items: &[i64]) -> i64 {
    ${body}
}

pub fn count(items: &[i64]) -> usize {
    items.len()
}

#[cfg(test)]
mod tests {
    #[test]
    fn counts() {
        assert_eq!(super::count(&[1, 2]), 2);
    }
}
`;
const SUM = 'items.iter().sum::<i64>()';
const HIDDEN = `#[test]
fn sums() {
    assert_eq!(calc::total(&[1, 2]), 3);
}

mod empty {
    #[test]
    fn is_nothing() {
        assert_eq!(calc::total(&[]), 0);
    }
}
`;

describe.skipIf(skipped !== null)('cargo', () => {
  test('its ids are read; the wrong fix, a run cut short and code that does not compile are FAIL, the right one PASS', async () => {
    const path = [join(sysroot.stdout.trim(), 'bin'), RUN_PATH].join(delimiter);
    const oracle = makeOracle({
      runner: processRunner({ prefix: join(temporaryDirectory(), 'run-'), path }),
    });
    const repository = makeRepository({
      'Cargo.toml': '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
      'Cargo.lock': 'version = 3\n\n[[package]]\nname = "calc"\nversion = "0.1.0"\n',
      'src/lib.rs': lib(`${SUM} - 1`),
    });
    const diffOf = (body: string) => {
      writeFileSync(join(repository, 'src/lib.rs'), lib(body));
      const diff = runGit(repository, 'diff', '--full-index');
      runGit(repository, 'checkout', '--quiet', '.');
      return diff;
    };
    const directory = taskDirectory(
      repository,
      {
        ...{ framework: 'cargo', suite: ['--lib'], hidden: [['--test', 'hidden']], timeout_s: 300 },
        ...{ allowlist: ['src/**'], reference: 'fix.patch' },
      },
      { 'tests/hidden.rs': HIDDEN },
    );
    writeFileSync(join(directory, 'fix.patch'), diffOf(SUM));
    await taskAdd(oracle, directory);
    const { row, failure } = await taskCheck(oracle, 'demo-split-bill');
    expect(row, failure).toMatchObject({ status: 'ready', reference_passed: 1 });
    expect(failure).toContain('sums');
    const task = knownTask(oracle, 'demo-split-bill');
    expect(task.definition.expected_ids?.map((id) => id.split('::').slice(-2).join('::'))).toEqual(
      expect.arrayContaining([expect.stringMatching(/is_nothing$/), expect.stringMatching(/sums$/)]),
    );
    const grade = async (body: string) =>
      gradeDiff(oracle, task, { kind: 'by_hand', diff: Buffer.from(diffOf(body)) });
    expect(await grade(`${SUM} + 0`)).toMatchObject({ code: 'PASS' });
    expect(await grade(`${SUM} - 2`)).toMatchObject({ code: 'FAIL' });
    expect(await grade('std::process::exit(0)')).toMatchObject({ code: 'FAIL' });
    expect(await grade('nothing_of_that_name(items)')).toMatchObject({ code: 'FAIL' });
  });
});
