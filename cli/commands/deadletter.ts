import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { breathing } from '../../log/breathing.ts';
import type { Log } from '../../log/log.ts';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import type { Clock } from '../../schemas/time.ts';
import { addCommand, type Cli, handle } from '../command.ts';
import { counted } from '../counted.ts';
import { originalBytes } from '../deadletter/bytes.ts';
import { type Letter, type Letters, openLetters } from '../deadletter/letters.ts';
import { objection, pick, putBack } from '../deadletter/put-back.ts';
import { ENGINE_FLAGS } from '../engine.ts';
import { EXIT } from '../exit.ts';
import { against, refuseBeside } from '../flags.ts';
import { withLog } from '../open-log.ts';
import { requireFree } from '../out-path.ts';
import { type Progress, withProgress } from '../progress.ts';
import { table } from '../table.ts';
import { IDENTITY_FLAG, Identity, type Unseal, unsealOf } from '../unseal.ts';

const Which = z.looseObject({
  topic: z.string().optional(),
  reason: z.string().optional(),
  all: z.boolean().default(false),
});

/** `flipstream deadletter list | show | retry`: what was set aside, and the way back. */
export function addDeadletter(cli: Cli): void {
  const parent = cli.program.command('deadletter').description('records that were set aside');
  const list = addCommand(parent, 'list', 'list the records that wait to be put back, oldest first')
    .option('--topic <topic>', 'only those of this topic')
    .option('--reason <code>', 'only those set aside for this reason')
    .option('--all', 'also those that were put back already');
  handle(cli, list, Which, async ({ config, out, io }, flags) => {
    const read = await withProgress(io.stderr, READING, (progress) =>
      withLog(config, (log) => readLetters(log, progress)),
    );
    const letters = read
      .all()
      .filter((letter) => fits(letter, flags) && (flags.all || letter.state === 'waiting'));
    out.result(letters.map(shown), () =>
      letters.length > 0
        ? table(['id', 'at', 'reason', 'groups', 'value_bytes', 'state'], letters.map(shown))
        : 'No dead letters wait.',
    );
  });

  const show = addCommand(parent, 'show <id>', 'show why one record was set aside')
    .option('--out <file>', 'write its original bytes to this file')
    .option(...IDENTITY_FLAG);
  const Show = Identity.extend({ out: z.string().optional() });
  handle(cli, show, Show, async ({ config, out, io }, flags, [id = '']) => {
    const path = flags.out === undefined ? null : resolve(config.cwd, flags.out);
    if (path !== null) requireFree(path, 'file');
    const letter = await withProgress(io.stderr, READING, (progress) =>
      withLog(config, async (log) => {
        const found = pick(await readLetters(log, progress), id);
        if (path !== null) {
          const bytes = await originalBytes(log, found, unsealOf(config, flags.identity));
          writeFileSync(path, bytes, { mode: 0o600, flag: 'wx' });
        }
        return found;
      }),
    );
    out.result(shown(letter), () => describe(letter, flags.out));
  });

  const retry = addCommand(
    parent,
    'retry [id...]',
    'put records back at the end of their topic, once; after what kept them from being used was mended',
  )
    .option('--topic <topic>', 'all of this topic')
    .option('--reason <code>', 'all set aside for this reason')
    .addOption(against(['topic', 'reason'], '--all', 'all that wait'))
    .option(...IDENTITY_FLAG);
  for (const command of [list, show, retry])
    for (const [flag, description] of ENGINE_FLAGS) command.option(flag, description);
  handle(cli, retry, Which.extend(Identity.shape), async ({ config, io, out }, flags, ids) => {
    requireChoice(ids, flags);
    const { done, left } = await withProgress(io.stderr, 'Putting back', (progress) =>
      withLog(config, async (log) => {
        const letters = await readLetters(log, progress);
        const wanted = { letters, ids: chosen(letters, ids, flags) };
        return putAllBack(log, wanted, unsealOf(config, flags.identity), io.clock, progress);
      }),
    );
    out.result({ put_back: done, left }, () =>
      [`${done.length} put back, ${left.length} left.`, ...left.map(({ why }) => `  ${why}`)].join('\n'),
    );
    return left.length > 0 ? EXIT.partial : EXIT.ok;
  });
}

const READING = 'Reading the dead letters';

function readLetters(log: Log, progress: Progress): Promise<Letters> {
  return openLetters(log, (records) => progress.update(`${counted(records, 'record')} read`));
}

interface PutBack {
  done: string[];
  left: { id: string; why: string }[];
}

/** Those that may not or cannot be put back are told of; the others are. */
async function putAllBack(
  log: Log,
  { letters, ids }: { letters: Letters; ids: readonly string[] },
  unseal: Unseal | null,
  clock: Clock,
  progress: Progress,
): Promise<PutBack> {
  const done: string[] = [];
  const left: PutBack['left'] = [];
  const breathe = breathing();
  for (const id of ids) {
    progress.update(`${done.length + left.length} of ${ids.length}`);
    await breathe();
    try {
      await putBack(log, { letters, id }, unseal, clock);
      done.push(id);
    } catch (error) {
      if (!(error instanceof FlipstreamError) || error.kind === 'retryable') throw error;
      left.push({ id, why: messageOf(error) });
    }
  }
  return { done, left };
}

function requireChoice(ids: readonly string[], { topic, reason, all }: z.infer<typeof Which>): void {
  const flags = { '--topic': topic, '--reason': reason, '--all': all };
  if (ids.length > 0) refuseBeside('The id of a record', flags);
  else if (!all && topic === undefined && reason === undefined)
    throw new FlipstreamError(
      'flag_invalid',
      'usage',
      'Name the records to put back, or --topic, --reason or --all.',
    );
}

function chosen(letters: Letters, ids: readonly string[], flags: z.infer<typeof Which>): string[] {
  if (ids.length > 0) return ids.map((id) => pick(letters, id).id);
  return letters
    .all()
    .flatMap((letter) => (letter.state === 'waiting' && fits(letter, flags) ? [letter.id] : []));
}

function fits({ source_topic, reason }: Letter, flags: z.infer<typeof Which>): boolean {
  return (
    (flags.topic === undefined || source_topic === flags.topic) &&
    (flags.reason === undefined || reason === flags.reason)
  );
}

function shown({ kept, ...letter }: Letter) {
  return { ...letter, bytes_kept: kept !== null };
}

function describe(letter: Letter, written: string | undefined): string {
  const why = objection(letter);
  return [
    `record   ${letter.id}, key ${letter.key ?? 'none'}`,
    `reason   ${letter.reason}: ${letter.message}`,
    `refused  by ${letter.groups.join(', ')} at ${letter.at}`,
    `bytes    ${letter.value_bytes}, ${letter.value_hash}${letter.kept ? ', kept sealed to the reviewer' : ', not kept'}`,
    `state    ${letter.state}`,
    ...(written === undefined ? [] : [`Its bytes are in ${written}.`]),
    why ? `${why}.` : `Put it back with: flipstream deadletter retry ${letter.id}`,
  ].join('\n');
}
