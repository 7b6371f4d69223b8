import { endsIt } from '../running.ts';
import type { Member } from './group.ts';
import type { Committed } from './offsets.ts';

/**
 * Commits where a group goes on beyond what it has committed, which may be nothing: its lag can be seen, whatever stops
 * its first record, and ends where a store of its own has everything. What fails is left to the next start: nothing
 * depends on it.
 * @param before what the group has committed
 * @param starts where it goes on
 * @throws FlipstreamError of kind usage or fatal
 */
export async function begin(
  member: Pick<Member, 'commit'>,
  before: readonly Committed[],
  starts: readonly Committed[],
): Promise<void> {
  const fresh = starts.filter(({ topic, partition, offset }) =>
    before.some((one) => one.topic === topic && one.partition === partition && one.offset < offset),
  );
  if (fresh.length === 0) return;
  try {
    await member.commit(fresh);
  } catch (error) {
    if (endsIt(error)) throw error;
  }
}
