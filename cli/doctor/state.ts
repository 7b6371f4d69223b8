/** Checks of what runs and what was recorded: collector, spool, last event, losses, pause, capture. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../../producers/home.ts';
import { readLosses } from '../../producers/spool/losses.ts';
import type { Clock } from '../../schemas/time.ts';
import { counted } from '../counted.ts';
import { askCollector, type CollectorStatus } from './collector-status.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { heardSessions } from './last-heard.ts';

const BACKLOG = 1000;

export async function checkCollector(home: Home): Promise<Finding[]> {
  const status = await askCollector(home);
  if (!status)
    return [
      problem(
        'collector',
        'No collector answers; events wait in the spool and the gate cannot ask.',
        'Run: flipstream up',
      ),
    ];
  const same = status.capture !== 'separate_user';
  return [
    ok('collector', `The collector runs since ${status.started_at} (process ${status.pid}).`),
    same
      ? warning(
          'capture',
          'The collector runs as the user that runs the agent (capture: same_user), which could alter what it recorded before a verdict attests it.',
          'Fine for one person; a team runs the collector as another user: flipstream init claude-code --system <user>',
        )
      : ok('capture', 'The collector runs as another user.'),
    ...checkCounts(status),
  ];
}

function checkCounts({ unreadable, http }: CollectorStatus): Finding[] {
  const refused = Object.entries(http?.refused ?? {}).filter(([, count]) => count > 0);
  const said = refused.map(([why, count]) => `${count} for ${why}`).join(', ');
  return [
    ...(unreadable === 0
      ? []
      : [
          warning(
            'unreadable',
            `${counted(unreadable, 'spool entry', 'spool entries')} could not be read and had to be set aside.`,
            'Install the hook of this release: flipstream init claude-code',
          ),
        ]),
    ...(http === null
      ? []
      : refused.length === 0
        ? [ok('http', `The http transport on port ${http.port} refused nothing.`)]
        : [
            warning(
              'http',
              `The http transport refused requests: ${said}.`,
              'For token: flipstream init claude-code --transport http, then start sessions anew. Otherwise find out what else posts to that port.',
            ),
          ]),
  ];
}

export function checkSpool(home: Home): Finding {
  const folder = join(home.spool, 'new');
  const waiting = existsSync(folder) ? readdirSync(folder).length : 0;
  return waiting < BACKLOG
    ? ok('spool', `${counted(waiting, 'entry waits', 'entries wait')} for the collector.`)
    : problem(
        'spool',
        `${counted(waiting, 'entry waits', 'entries wait')} for the collector.`,
        'Run flipstream up, or see why the collector does not keep up: flipstream status',
      );
}

/** What could not be kept, and is not yet in the record as a gap. */
export function checkLosses(home: Home): Finding {
  const { count } = readLosses(home);
  return count === 0
    ? ok('losses', 'No event was lost that is not in the record as a gap.')
    : problem(
        'losses',
        `${counted(count, 'event')} could not be kept: the disk was full, the spool could not be written, or a hook was ended.`,
        'See that there is space and that the spool can be written, and run flipstream up: the collector puts the gap on the record.',
      );
}

/** When the last event of a hook was recorded, by the files that hold events. */
export function checkLastEvent(home: Home, clock: Clock): Finding {
  const [session] = heardSessions(home);
  const folder = join(home.spool, 'new');
  const waiting = existsSync(folder) ? readdirSync(folder) : [];
  const times = waiting.map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  if (session) times.push(session.ms);
  if (times.length === 0)
    return warning(
      'last-event',
      'No event was recorded yet.',
      'Start a session of the agent; if it stays so, see the findings above.',
    );
  const last = times.reduce((latest, time) => Math.max(latest, time), 0);
  const minutes = Math.round((clock() - last) / 60_000);
  return ok('last-event', `The last event was recorded ${minutes < 1 ? 'just now' : `${minutes} min ago`}.`);
}

export function checkSilenced(home: Home, off: boolean): Finding {
  if (off) return warning('silenced', 'FLIPSTREAM_OFF is set here: nothing is recorded.', 'Unset it.');
  return existsSync(home.paused)
    ? warning('silenced', 'Capture is paused.', 'Run: flipstream resume')
    : ok('silenced', 'Capture is on.');
}
