/** Checks of what runs and what was recorded: collector, spool, last event, losses, pause, capture. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Home } from '../../producers/home.ts';
import { readLosses } from '../../producers/spool/losses.ts';
import type { Clock } from '../../schemas/time.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const BACKLOG = 1000;
const SOCKET_MS = 2000;

export async function checkCollector(home: Home): Promise<Finding[]> {
  if (!(await answers(home.collectorSocket)))
    return [
      problem(
        'collector',
        'No collector answers; events wait in the spool and the gate cannot ask.',
        'Run: flipstream up',
      ),
    ];
  const same = statSync(home.collectorSocket).uid === process.getuid?.();
  return [
    ok('collector', 'The collector is running.'),
    same
      ? warning(
          'capture',
          'The collector runs as the user that runs the agent (capture: same_user), which could alter what it recorded before a verdict attests it.',
          'Fine for one person; a team runs the collector as another user.',
        )
      : ok('capture', 'The collector runs as another user.'),
  ];
}

/** Whether a process listens on a unix socket. */
export function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket);
    const end = (up: boolean) => {
      connection.destroy();
      resolve(up);
    };
    connection.setTimeout(SOCKET_MS, () => end(false));
    connection.once('connect', () => end(true));
    connection.once('error', () => end(false));
  });
}

export function checkSpool(home: Home): Finding {
  const folder = join(home.spool, 'new');
  const waiting = existsSync(folder) ? readdirSync(folder).length : 0;
  return waiting < BACKLOG
    ? ok('spool', `${waiting} entries wait for the collector.`)
    : problem(
        'spool',
        `${waiting} entries wait for the collector.`,
        'Run flipstream up, or see why the collector does not keep up: flipstream status',
      );
}

/** What could not be kept for want of space, and is not yet in the record as a gap. */
export function checkLosses(home: Home): Finding {
  const { count } = readLosses(home);
  return count === 0
    ? ok('losses', 'No event was lost that is not in the record as a gap.')
    : problem(
        'losses',
        `${count} events could not be kept, because the disk was full.`,
        'Free space and run flipstream up: the collector puts the gap on the record.',
      );
}

/** When the last event was recorded, by the files that hold events. */
export function checkLastEvent(home: Home, clock: Clock): Finding {
  const times = [join(home.spool, 'new'), home.traces]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder).map(
        (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
      ),
    );
  if (times.length === 0)
    return warning(
      'last-event',
      'No event was recorded yet.',
      'Start a session of the agent; if it stays so, see the findings above.',
    );
  const minutes = Math.round((clock() - Math.max(...times)) / 60_000);
  return ok('last-event', `The last event was recorded ${minutes < 1 ? 'just now' : `${minutes} min ago`}.`);
}

export function checkSilenced(home: Home, off: boolean): Finding {
  if (off) return warning('silenced', 'FLIPSTREAM_OFF is set here: nothing is recorded.', 'Unset it.');
  return existsSync(home.paused)
    ? warning('silenced', 'Capture is paused.', 'Run: flipstream resume')
    : ok('silenced', 'Capture is on.');
}
