import { endsIt } from '../running.ts';
import type { Member } from './group.ts';
import type { Committed } from './offsets.ts';

/**
 * Commits where a group begins in partitions in which it has committed nothing: from then on its lag can be seen,
 * whatever stops its first record. What fails is left to the next start: nothing depends on it.
 * @param before what the group has committed
 * @param starts where it goes on
 * @throws FlipstreamError of kind usage or fatal
 */
export async function begin(
  member: Pick<Member, 'commit'>,
  before: readonly Committed[],
  starts: readonly Committed[],
): Promise<void> {
  const fresh = starts.filter(({ topic, partition }) =>
    before.some((one) => one.topic === topic && one.partition === partition && one.offset < 0),
  );
  if (fresh.length === 0) return;
  try {
    await member.commit(fresh);
  } catch (error) {
    if (endsIt(error)) throw error;
  }
}
