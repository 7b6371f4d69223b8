import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import type { Log } from '../../log/log.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import type { Quarantined } from '../../schemas/generated.ts';
import { parseJson } from '../../schemas/parse-json.ts';
import { addCommand, type Cli, handle } from '../command.ts';
import { counted } from '../counted.ts';
import { ENGINE_FLAGS } from '../engine.ts';
import { withLog } from '../open-log.ts';
import { requireFree } from '../out-path.ts';
import { type Progress, withProgress } from '../progress.ts';
import { heldIn } from '../quarantine/held.ts';
import { table } from '../table.ts';
import { IDENTITY_FLAG, Identity, type Unseal, unsealOf } from '../unseal.ts';

const List = z.looseObject({ session: z.string().optional() });
const Show = Identity.extend({ out: z.string().optional() });

/** `flipstream quarantine list | show`: what the second scan withheld, for a person to review. */
export function addQuarantine(cli: Cli): void {
  const parent = cli.program.command('quarantine').description('content that the second scan withheld');
  const list = addCommand(parent, 'list', 'list the events whose content is withheld, oldest first').option(
    '--session <id>',
    'only those of this session',
  );
  handle(cli, list, List, async ({ config, out, io }, { session }) => {
    const events: ReturnType<typeof shown>[] = [];
    await withProgress(io.stderr, READING, (progress) =>
      withLog(config, async (log) => {
        for await (const held of heldIn(log, telling(progress)))
          if (session === undefined || held.session_id === session) events.push(shown(held));
      }),
    );
    events.sort((a, b) => a.ts.localeCompare(b.ts));
    out.result(events, () =>
      events.length > 0
        ? table(['event_id', 'session_id', 'ts', 'type', 'reason', 'rules'], events)
        : 'Nothing is withheld.',
    );
  });

  const show = addCommand(
    parent,
    'show <event-id>',
    'print one withheld event with its content, which may be a secret: on a terminal of your own',
  )
    .option('--out <file>', 'write it to this file instead')
    .option(...IDENTITY_FLAG);
  for (const command of [list, show])
    for (const [flag, description] of ENGINE_FLAGS) command.option(flag, description);
  handle(cli, show, Show, async ({ config, out, io }, { identity, out: file }, [id = '']) => {
    const path = file === undefined ? null : resolve(config.cwd, file);
    if (path !== null) requireFree(path, 'file');
    const held = await withProgress(io.stderr, READING, (progress) =>
      withLog(config, (log) => find(log, id, progress)),
    );
    const about = shown(held);
    const content = await open(held, unsealOf(config, identity));
    if (path !== null) {
      writeFileSync(path, content, { mode: 0o600, flag: 'wx' });
      return out.result(about, () => `${describe(about)}\nIts content is in ${file}.`);
    }
    const event: unknown = parseJson(content);
    out.result({ ...about, event }, () => `${describe(about)}\n\n${JSON.stringify(event, null, 2)}`);
  });
}

const READING = 'Reading the quarantine';

function telling(progress: Progress): (events: number) => void {
  return (events) => progress.update(counted(events, 'event'));
}

/** By the event's id or the beginning of it. @throws FlipstreamError `not_quarantined` (usage) when none or several fit. */
async function find(log: Log, given: string, progress: Progress): Promise<Quarantined> {
  let first: Quarantined | null = null;
  let several = false;
  for await (const held of heldIn(log, telling(progress))) {
    if (held.event_id === given) return held;
    if (given === '' || !held.event_id.startsWith(given)) continue;
    several ||= first !== null && first.event_id !== held.event_id;
    first ??= held;
  }
  if (several) throw notQuarantined(`Several events in quarantine begin with ${given}: give more of the id.`);
  if (first) return first;
  throw notQuarantined(
    `No event whose id is or begins with "${given}" is in quarantine, or the topic no longer keeps it: flipstream quarantine list shows what is there.`,
  );
}

const notQuarantined = (message: string) => new FlipstreamError('not_quarantined', 'usage', message);

async function open({ event_id, content }: Quarantined, unseal: Unseal | null): Promise<string> {
  if (content && unseal) return (await unseal(Buffer.from(content))).toString('utf8');
  throw new FlipstreamError(
    'quarantine_sealed',
    'usage',
    content
      ? `${event_id} is sealed to the reviewer: give the private key with --identity.`
      : `Of ${event_id} no content was kept.`,
  );
}

function shown({ content, ...about }: Quarantined) {
  return { ...about, content_kept: content !== null };
}

function describe({ event_id, session_id, ts, type, reason, rules }: ReturnType<typeof shown>): string {
  return [
    `event    ${event_id}, ${type}`,
    `session  ${session_id}`,
    `at       ${ts}`,
    `reason   ${reason}${rules.length > 0 ? `: ${rules.join(', ')}` : ''}`,
  ].join('\n');
}
