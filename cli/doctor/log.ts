/** Checks of the log, whichever engine keeps it: how far the groups are, and what stops them. */
import type { Log, PartitionLag } from '../../log/log.ts';
import { FlipstreamError } from '../../schemas/errors.ts';
import { TOPIC_NAMES } from '../../schemas/topics.ts';
import { hasLog, type LogPlace, withLog } from '../open-log.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const BEHIND = 10_000;

/** @returns nothing where nothing was ever recorded */
export async function checkLog(place: LogPlace): Promise<Finding[]> {
  if (!hasLog(place)) return [];
  return withLog(place, async (log) => {
    const lags = await log.lag();
    return [checkLag(lags), await checkWriters(log, lags)];
  });
}

function checkLag(lags: readonly PartitionLag[]): Finding {
  if (lags.length === 0) return ok('lag', 'No group has read anything yet, or this user may see none.');
  const slow = [...Map.groupBy(lags, ({ group }) => group)]
    .map(([group, all]) => ({ group, by: all.reduce((sum, one) => sum + one.end - one.committed, 0) }))
    .filter(({ by }) => by > BEHIND);
  return slow.length === 0
    ? ok('lag', `No group is more than ${BEHIND} records behind.`)
    : warning(
        'lag',
        slow.map(({ group, by }) => `${group} is ${by} records behind`).join(', '),
        'See that streams and sink run; a second streams process takes half of the partitions.',
      );
}

/** A record of a newer release stops the groups that come to it: docs/decisions/0020. */
async function checkWriters(log: Log, lags: readonly PartitionLag[]): Promise<Finding> {
  const stopped = new Set<string>();
  const unseen = new Set<string>();
  for (const { group, topic: name, partition, committed, end } of lags) {
    const topic = TOPIC_NAMES.find((one) => one === name);
    if (!topic || committed >= end) continue;
    try {
      await log.read(topic, partition, committed, 1);
    } catch (error) {
      if (!(error instanceof FlipstreamError)) throw error;
      if (error.code === 'kafka_not_allowed') {
        unseen.add(topic);
        continue;
      }
      if (error.code !== 'newer_writer') throw error;
      stopped.add(`${group} stands before a record: ${error.message}`);
    }
  }
  if (stopped.size > 0)
    return problem(
      'writers',
      [...stopped].join('; '),
      'Install the newest release here and start flipstream up anew.',
    );
  return unseen.size === 0
    ? ok('writers', 'No group waits for a newer release.')
    : warning(
        'writers',
        `Whether a group waits for a newer release was not seen in ${[...unseen].join(', ')}: that takes READ on it.`,
        'Ask as a user who may read it.',
      );
}
