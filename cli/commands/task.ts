import { resolve } from 'node:path';
import { z } from 'zod';
import { readSettings } from '../../producers/settings.ts';
import { taskStart } from '../../producers/task-start.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { addCommand, type Cli, handle } from '../command.ts';
import { withProgress } from '../progress.ts';

const ATTEMPTS = 'must be a whole number from 1 to 20';

const Flags = z.looseObject({
  maxAttempts: z.coerce.number(ATTEMPTS).int(ATTEMPTS).min(1, ATTEMPTS).max(20, ATTEMPTS).optional(),
});

/** `flipstream task start`: the agent's clone. */
export function addTask(cli: Cli): void {
  const task = cli.program.command('task').description('work on a task');
  const start = addCommand(
    task,
    'start <task> [dir]',
    'make a clone for the agent with the base commit and its ancestors only, and its configuration',
  ).option('--max-attempts <n>', 'ask for at most this many grades, 1 to 20 (default: 6)');
  handle(
    cli,
    start,
    Flags,
    async ({ config, out, io }, flags, [taskId = '', dir]) => {
      const { oracle } = readSettings(config.home);
      if (!oracle)
        throw new FlipstreamError(
          'no_oracle',
          'usage',
          'No oracle is configured: run flipstream init claude-code first.',
        );
      const started = await withProgress(io.stderr, `Fetching ${taskId}`, (progress) =>
        taskStart({
          taskId,
          directory: resolve(config.cwd, dir ?? taskId.split('/').at(-1) ?? taskId),
          oracle,
          home: config.home,
          clock: io.clock,
          path: io.env.PATH,
          signal: io.signal,
          maxAttempts: flags.maxAttempts,
          onBytes: (bytes) => progress.update(`${(bytes / 2 ** 20).toFixed(1)} MiB`),
        }),
      );
      out.result(
        started,
        () => `${started.directory} is at ${started.base_commit.slice(0, 12)}. Start the agent there.`,
      );
    },
    { stopsItself: true },
  );
}
