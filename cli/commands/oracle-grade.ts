import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { gradeDiff } from '../../oracle/grade-diff.ts';
import { regrade } from '../../oracle/regrade.ts';
import { knownTask } from '../../oracle/tasks/store.ts';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { sha256 } from '../../schemas/hash.ts';
import { type Cli, handle, NoFlags } from '../command.ts';
import { EXIT } from '../exit.ts';
import { withProgress } from '../progress.ts';
import { table } from '../table.ts';
import { addOracleCommand, withOracle } from './oracle-command.ts';

/** `flipstream oracle grade | regrade`: grades that nobody asked for from outside. */
export function addOracleGrades(cli: Cli, parent: Cli['program']): void {
  const grade = addOracleCommand(
    parent,
    'grade <task> <diff>',
    'grade a diff by hand: nothing is signed, and the reason is told',
  );
  handle(
    cli,
    grade,
    NoFlags,
    async (context, _, [id = '', path = '']) => {
      const diff = readDiffFile(resolve(context.config.cwd, path));
      const { code, reason, result, signals } = await withOracle(context, (opened) =>
        withProgress(context.io.stderr, `Grading ${path}`, () =>
          gradeDiff(opened, knownTask(opened, id), { kind: 'by_hand', diff, diff_hash: sha256(diff) }),
        ),
      );
      const dropped = result.dropped.map(({ paths, why }) => ({ paths, why }));
      context.out.result({ task_id: id, code, reason, dropped, signals }, () =>
        [
          `${code}: ${reason}.`,
          ...dropped.map(({ paths, why }) => `Not applied: ${paths.join(' → ')} (${why}).`),
          ...signals.map(({ name, kind, passed }) => `Signal ${name} (${kind}): ${SAID[String(passed)]}.`),
        ].join('\n'),
      );
      return code === 'PASS' ? EXIT.ok : EXIT.failed;
    },
    { stopsItself: true },
  );
  addRegrade(cli, parent);
}

const SAID: Readonly<Record<string, string>> = {
  true: 'passed',
  false: 'did not pass',
  null: 'could not be run',
};

const COLUMNS = ['session_id', 'before', 'now', 'left', 'retracted', 'verdict_id'];

function addRegrade(cli: Cli, parent: Cli['program']): void {
  const command = addOracleCommand(
    parent,
    'regrade',
    'run the kept diffs of a task again, and withdraw every PASS that no longer is one',
  ).requiredOption('--task <id>', 'the task, checked again after its tests were mended');
  handle(
    cli,
    command,
    z.looseObject({ task: z.string() }),
    async (context, { task }) => {
      const found = await withOracle(context, (opened) =>
        withProgress(context.io.stderr, `Grading ${task} again`, (progress) =>
          regrade(opened, task, (done, of) => progress.update(`${done} of ${of}`)),
        ),
      );
      const retracted = found.filter((one) => one.retracted).length;
      const left = found.filter((one) => one.left !== null).length;
      const failed = found.filter(({ now }) => now === 'ERROR').length;
      context.out.result(found, () =>
        [
          ...(found.length > 0 ? [table(COLUMNS, found)] : []),
          `${found.length - left} grade(s) run again: ${retracted} withdrawn, ${failed} could not be run. ${left} left alone.`,
        ].join('\n'),
      );
      return left + failed > 0 ? EXIT.partial : EXIT.ok;
    },
    { stopsItself: true },
  );
}

function readDiffFile(path: string): Buffer {
  let diff: Buffer;
  try {
    diff = readFileSync(path);
  } catch (cause) {
    throw unreadable(`The diff cannot be read: ${messageOf(cause)}.`, cause);
  }
  if (diff.length > 0 && !diff.includes('diff --git '))
    throw unreadable(`${path} is no diff: make one with git diff --binary --full-index.`);
  return diff;
}

function unreadable(message: string, cause?: unknown): FlipstreamError {
  return new FlipstreamError('diff_unreadable', 'usage', message, cause);
}
