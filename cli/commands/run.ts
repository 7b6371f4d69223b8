import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readProjectConfig } from '../../producers/project-config.ts';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { addCommand, type Cli, type Context, handle, NoFlags } from '../command.ts';
import { counted } from '../counted.ts';
import { EXIT } from '../exit.ts';
import { withProgress } from '../progress.ts';
import { heldAtEnd, tellEnd } from '../run/grade.ts';
import { nextAttempt } from '../run/resume.ts';
import { type RunSession, sessionsOf } from '../run/sessions.ts';
import { unlessStopped } from '../stop.ts';

/** `flipstream run -- <harness command>`: the gate for a harness that nothing can hold. */
export function addRun(cli: Cli): void {
  const command = addCommand(
    cli.program,
    'run <command...>',
    'run a harness to its end, have it graded, and start it again with the constant reason while it is held; the last argument is the prompt: flipstream run -- cursor-agent -p "fix it"',
  );
  handle(
    cli,
    command,
    NoFlags,
    async (context, _, argv) => {
      const ran = await attempts(context, argv);
      context.io.signal.throwIfAborted();
      context.out.result(ran, () =>
        ran.session_id === null
          ? 'No hook told of a session, so nothing was graded: flipstream doctor says why.'
          : `Run ${ran.run_id}: ${counted(ran.attempts, 'attempt')}, ${ran.held ? 'held to the end' : 'let go'}. Session ${ran.session_id}.`,
      );
      return ran.code === 0 && ran.session_id !== null ? EXIT.ok : EXIT.failed;
    },
    { stopsItself: true },
  );
}

interface Ran {
  run_id: string;
  attempts: number;
  /** The last stop was refused, and no attempt is left. */
  held: boolean;
  /** null: no hook told of one. */
  session_id: string | null;
  code: number;
}

async function attempts(context: Context, argv: readonly string[]): Promise<Ran> {
  const { config, io } = context;
  const run_id = randomUUID();
  const most = readProjectConfig(config.cwd).max_attempts;
  let next = { argv: [...argv], resumes: true };
  let session: RunSession | undefined;
  for (let done = 1; ; done++) {
    const env = {
      ...{ ...io.env, FLIPSTREAM_HOME: config.home.root, FLIPSTREAM_RUN: run_id },
      ...(session && !next.resumes
        ? { FLIPSTREAM_RUN_SESSION: session.session_id, FLIPSTREAM_RUN_HARNESS: session.harness }
        : {}),
    };
    const before = sessionsOf(config.home, run_id).length;
    const code = await harness(context, next.argv, env);
    // the first of the attempt: an agent may start a harness itself, under the same run
    session = sessionsOf(config.home, run_id)[before] ?? session;
    const held = session !== undefined && (await isHeld(context, session));
    if (!held || !session || done >= most) {
      if (session) tellEnd(config.home, session, run_id, io.clock());
      return { run_id, attempts: done, held, session_id: session?.session_id ?? null, code };
    }
    next = nextAttempt(argv, session.harness, session.session_id);
  }
}

/** One that is told to stop is not asked any further. */
async function isHeld(context: Context, session: RunSession): Promise<boolean> {
  const { signal, stderr } = context.io;
  try {
    return await withProgress(stderr, 'Asking the oracle', () =>
      unlessStopped(signal, () => heldAtEnd(context, session)),
    );
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** Runs the harness on this terminal. @returns its exit code */
function harness(
  { config, out, io }: Context,
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const [program = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    // with --json our own stdout is one document: the harness's goes to stderr
    const stdio = ['inherit', out.json ? 2 : 'inherit', 'inherit'] as const;
    const child = spawn(program, args, { cwd: config.cwd, env, stdio: [...stdio], signal: io.signal });
    child.on('error', (error) => {
      if (io.signal.aborted) resolve(EXIT.interrupted);
      else
        reject(
          new FlipstreamError(
            'harness_not_started',
            'usage',
            `${program} cannot be started: ${messageOf(error)}.`,
          ),
        );
    });
    child.on('close', (code) => resolve(code ?? 1));
  });
}
