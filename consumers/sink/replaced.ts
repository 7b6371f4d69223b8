import { FlipstreamError } from '../../schemas/errors.ts';
import type { LandedTopic } from '../../warehouse/tables.ts';

/**
 * A topic of a cluster that stands in the place of another one, made anew or of another cluster, is no
 * continuation of it: offsets of the old one that never landed may be gone. Nor is a cluster one of a home's own
 * log: what is joined and counted there would begin anew beside what had landed. Between own logs anything goes on.
 * @param txns next offset to land, by log id, topic and partition
 * @throws FlipstreamError `log_replaced` (fatal)
 */
export function refuseReplaced(
  txns: ReadonlyMap<string, number>,
  logId: string,
  topic: LandedTopic,
  partition: number,
): void {
  const place = `/${topic}/${partition}`;
  if (!isOfCluster(logId) || txns.has(`${logId}${place}`)) return;
  for (const [id, next] of txns) {
    const other = id.slice(0, -place.length);
    if (!id.endsWith(place)) continue;
    if (!isOfCluster(other)) throw ownBefore(topic, partition);
    throw new FlipstreamError(
      'log_replaced',
      'fatal',
      `${topic}/${partition}: offsets up to ${next - 1} landed from ${other}, and the topic that is there now is ${logId}: whatever the old one held from offset ${next} on is not in the warehouse. Fill a new home with flipstream replay, or start with --accept-gap to go on with the new topic`,
    );
  }
}

/** A cluster's ids are those of cluster and topic. */
function isOfCluster(logId: string): boolean {
  return logId.includes('/');
}

function ownBefore(topic: LandedTopic, partition: number): FlipstreamError {
  return new FlipstreamError(
    'log_replaced',
    'fatal',
    `${topic}/${partition}: this warehouse was filled from the home's own log, and the log is a cluster now. flipstream kafka move carries what was recorded onto it and sets these tables aside; to begin anew there, name another --home`,
  );
}
