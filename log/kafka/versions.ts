/** Which requests a broker and we have no common version of. */
import apiKeys from 'kafkajs/src/protocol/requests/apiKeys.js';
import kafkajsRequests from 'kafkajs/src/protocol/requests/index.js';
import type { BrokerAccess } from './settings.ts';
import { createWire } from './wire.ts';

type Versions = Readonly<Record<number, { minVersion: number; maxVersion: number }>>;

/** Every request that publishing, reading, groups and transactions take. */
const SENT = [
  ...['Produce', 'Fetch', 'ListOffsets', 'Metadata', 'GroupCoordinator'],
  ...['JoinGroup', 'SyncGroup', 'Heartbeat', 'LeaveGroup', 'OffsetCommit', 'OffsetFetch', 'ListGroups'],
  ...['InitProducerId', 'AddPartitionsToTxn', 'AddOffsetsToTxn', 'TxnOffsetCommit', 'EndTxn'],
];
/** Zstd is allowed from this version of Produce on, and Fetch is sent in this one only. */
const OLDEST: Readonly<Record<string, number>> = { Produce: 7, Fetch: 11 };

/** Names of requests that a broker with these versions would not take from us. */
export function notSpoken(versions: Versions): string[] {
  return SENT.filter((name) => {
    const theirs = versions[apiKeys[name] ?? -1];
    const ours = (kafkajsRequests.requests[name]?.versions ?? []).map(Number);
    return !ours.some(
      (version) =>
        theirs && version >= Math.max(theirs.minVersion, OLDEST[name] ?? 0) && version <= theirs.maxVersion,
    );
  });
}

/** The same by broker, of those that have any. @throws FlipstreamError of log/kafka/errors.ts */
export async function notSpokenBy(
  access: BrokerAccess,
  brokers: readonly number[],
): Promise<Map<number, string[]>> {
  const wire = createWire(access);
  try {
    const found = new Map<number, string[]>();
    for (const id of brokers) {
      const lacking = notSpoken((await wire.broker(id)).versions ?? {});
      if (lacking.length > 0) found.set(id, lacking);
    }
    return found;
  } finally {
    await wire.close();
  }
}
