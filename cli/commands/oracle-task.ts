import { resolve } from 'node:path';
import { z } from 'zod';
import { taskAdd } from '../../oracle/tasks/add.ts';
import { type CheckReport, taskCheck } from '../../oracle/tasks/check.ts';
import { draftTask, writeDraft } from '../../oracle/tasks/draft.ts';
import { exportTask } from '../../oracle/tasks/export.ts';
import { taskRows } from '../../oracle/tasks/rows.ts';
import { quarantine, release } from '../../oracle/tasks/state.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { type Cli, handle, NoFlags } from '../command.ts';
import { EXIT } from '../exit.ts';
import { against } from '../flags.ts';
import { withProgress } from '../progress.ts';
import { table } from '../table.ts';
import { addOracleCommand, withOracle } from './oracle-command.ts';

/** `flipstream oracle task …` */
export function addOracleTask(cli: Cli, parent: Cli['program']): void {
  const task = parent.command('task').description('the oracle\u2019s tasks');
  addNew(cli, task);
  addAdd(cli, task);
  addCheck(cli, task);
  addList(cli, task);
  addStates(cli, task);
}

function addNew(cli: Cli, task: Cli['program']): void {
  const command = addOracleCommand(
    task,
    'new <dir>',
    'draft a task from a commit that fixes something, or from tests that fail now',
  )
    .requiredOption('--repo <path>', 'the repository')
    .addOption(
      against(
        ['test'],
        '--fix <commit>',
        'the commit: its tests become hidden, the rest of it the reference',
      ),
    )
    .option('--test <file...>', 'tests that fail at HEAD: they become hidden')
    .option('--id <task>', 'the task\u2019s id (default: the folder\u2019s name)');
  const Flags = z.looseObject({
    repo: z.string(),
    fix: z.string().optional(),
    test: z.array(z.string()).optional(),
    id: z.string().optional(),
  });
  handle(cli, command, Flags, async ({ config, out, io }, flags, [dir = '']) => {
    const repository = resolve(config.cwd, flags.repo);
    const path = resolve(config.cwd, dir);
    const id = flags.id ?? path.split('/').at(-1) ?? 'task';
    const from = flags.fix ? { repository, fix: flags.fix } : { repository, tests: flags.test ?? neither() };
    const draft = await withProgress(io.stderr, 'Reading the repository', () => draftTask(id, from));
    writeDraft(path, draft);
    const hidden = draft.hidden.map((file) => file.path);
    out.result({ dir: path, hidden, remarks: draft.remarks, task: draft.file }, () =>
      [
        `${path} holds a draft of task ${id}: ${hidden.length} hidden file(s)${draft.reference ? ' and a reference' : ''}.`,
        ...draft.remarks,
        `Read task.json, then: flipstream oracle task add ${dir}`,
      ].join('\n'),
    );
  });
}

function neither(): never {
  throw new FlipstreamError(
    'flag_invalid',
    'usage',
    'Name what the task is made from: --fix <commit>, or --test <file...>.',
  );
}

function addAdd(cli: Cli, task: Cli['program']): void {
  const add = addOracleCommand(
    task,
    'add <dir>',
    'store the task whose task.json and hidden tests lie in dir',
  );
  handle(cli, add, NoFlags, async (context, _, [dir = '']) =>
    withOracle(context, async (opened) => {
      const row = await withProgress(context.io.stderr, 'Copying the repository', () =>
        taskAdd(opened, resolve(context.config.cwd, dir)),
      );
      context.out.result(
        row,
        () => `Task ${row.task_id} is stored. Next: flipstream oracle task check ${row.task_id}`,
      );
    }),
  );
}

function addCheck(cli: Cli, task: Cli['program']): void {
  const check = addOracleCommand(
    task,
    'check <task>',
    'run baseline and reference: the hidden tests must fail at the base, for a right reason, and pass with the reference',
  )
    .option('--runs <n>', 'how often each is run, 2 to 20 (default: 2)')
    .option('--accept <why>', 'accept a failure that looks wrong, having read it; the reason is kept');
  const Flags = z.looseObject({
    runs: z.coerce
      .number('must be a number')
      .int('must be a whole number')
      .min(2, 'must be at least 2')
      .max(20, 'must not be above 20')
      .optional(),
    accept: z.string().min(1).optional(),
  });
  handle(
    cli,
    check,
    Flags,
    async (context, { runs, accept }, [id = '']) => {
      const report = await withOracle(context, (opened) =>
        withProgress(context.io.stderr, `Checking ${id}`, () => taskCheck(opened, id, { runs, accept })),
      );
      context.out.result(report, () => told(report));
      return report.row.status === 'ready' ? EXIT.ok : EXIT.failed;
    },
    { stopsItself: true },
  );
}

/** Less than a gate's own deadline, of which building the diff takes some. */
const GATE_WAIT_MS = 500_000;

/** How the runner names the tests that it puts beside a task's own. */
const CANARY = /K[0-9a-f]{16}_\d/;

function told(report: CheckReport): string {
  const { row, detail, failure, differing, skipped, unsearched, constant_ms } = report;
  const { task_id, status, reason, suite_excluded, reference_passed, accepted } = row;
  const lines =
    failure === ''
      ? []
      : [
          'How it fails at the base commit. Read it: is this the missing work?',
          ...(!CANARY.test(failure)
            ? []
            : ['Tests that are in no file of the task are canaries of ours: they have to fail.']),
          '',
          failure,
          '',
        ];
  for (const id of differing) lines.push(`Differs from run to run: ${id}`);
  for (const id of skipped) lines.push(`Skipped with the reference, so no grade asks for it: ${id}`);
  if (suite_excluded)
    lines.push(`${suite_excluded} test(s) of the suite do not pass every time and are left out.`);
  if (unsearched)
    lines.push(
      'The image was not searched for the fix: every line that the reference adds is shorter than 24 characters. See that the image does not hold it.',
    );
  if (status !== 'ready')
    return [
      ...lines,
      `Task ${task_id} is ${status}: ${reason ?? 'no reason recorded'}${detail === null ? '' : ` (${detail})`}.`,
    ].join('\n');
  if (constant_ms !== null)
    lines.push(
      `constant_time: every answer leaves ${Math.ceil(constant_ms / 1000)} s after its run began. Who cannot wait so long is told PENDING${constant_ms > GATE_WAIT_MS ? ', as every gate is, which waits nine minutes' : ''}: a lower timeout_s makes it sooner.`,
    );
  const how = reference_passed
    ? 'its baseline fails as it should, and its reference passes'
    : 'its baseline fails as it should';
  return [
    ...lines,
    `Task ${task_id} is ready: ${how}${accepted === null ? '' : ' (accepted by hand)'}.`,
  ].join('\n');
}

function addList(cli: Cli, task: Cli['program']): void {
  const list = addOracleCommand(task, 'list', 'list the tasks and whether they may be graded');
  handle(cli, list, NoFlags, async (context) =>
    withOracle(context, (opened) => {
      const rows = taskRows(opened.db);
      const shown = rows.map((row) => ({
        task: row.task_id,
        status: row.status,
        checked: row.checked_at,
        reason: row.reason,
        accepted: row.accepted,
      }));
      context.out.result(rows, () =>
        rows.length > 0
          ? table(['task', 'status', 'checked', 'reason', 'accepted'], shown)
          : 'No tasks. Next: flipstream oracle task add <dir>',
      );
    }),
  );
}

function addStates(cli: Cli, task: Cli['program']): void {
  const stop = addOracleCommand(task, 'quarantine <task>', 'grade it no more, until release').requiredOption(
    '--reason <why>',
    'published with the task: name nothing that is hidden',
  );
  handle(cli, stop, z.looseObject({ reason: z.string().min(1) }), async (context, { reason }, [id = '']) =>
    withOracle(context, (opened) =>
      context.out.result(quarantine(opened, id, reason), () => `Task ${id} is quarantined: ${reason}.`),
    ),
  );
  const go = addOracleCommand(task, 'release <task>', 'grade it again, after a quarantine by hand');
  handle(cli, go, NoFlags, async (context, _, [id = '']) =>
    withOracle(context, (opened) => context.out.result(release(opened, id), () => `Task ${id} is ready.`)),
  );
  const out = addOracleCommand(task, 'export <task>', 'write what may be given away of a task').option(
    '--out <dir>',
    'a folder that is not there yet (default: the task\u2019s id)',
  );
  handle(cli, out, z.looseObject({ out: z.string().optional() }), async (context, flags, [id = '']) =>
    withOracle(context, async (opened) => {
      const dir = resolve(context.config.cwd, flags.out ?? id);
      const files = await withProgress(context.io.stderr, 'Packing the repository', () =>
        exportTask(opened, id, dir),
      );
      context.out.result({ files }, () => `${files.join('\n')}\nNothing hidden is in them.`);
    }),
  );
}
