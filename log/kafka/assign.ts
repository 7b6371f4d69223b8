import kafkajs from 'kafkajs';

const { AssignerProtocol } = kafkajs;

/** What a member of a group tells of itself: the partitions it holds, so that it can keep them. */
export interface Standing {
  memberId: string;
  holds: readonly number[];
}

/**
 * Deals partition numbers: number p of every topic goes to one member, so that what is joined meets. Nobody has
 * two more than another; within that, everyone keeps what it holds.
 */
export function deal(members: readonly Standing[], partitions: number): Map<string, number[]> {
  const sorted = [...members].sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
  const dealt = new Map<string, number[]>(sorted.map(({ memberId }) => [memberId, []]));
  const free = new Set(Array.from({ length: partitions }, (_, p) => p));
  const even = Math.floor(partitions / Math.max(sorted.length, 1));
  let extra = partitions - even * sorted.length;
  for (const { memberId, holds } of sorted) {
    const mine = dealt.get(memberId) ?? [];
    for (const p of holds) {
      if (!free.has(p) || mine.length > even || (mine.length === even && extra === 0)) continue;
      if (mine.length === even) extra--;
      mine.push(p);
      free.delete(p);
    }
  }
  for (const p of free) {
    const least = [...dealt.values()].sort((a, b) => a.length - b.length)[0];
    least?.push(p);
  }
  return dealt;
}

const VERSION = 1;

/** What a member sends when it joins. */
export function standingOf(topics: readonly string[], holds: Iterable<number>): Buffer {
  const userData = Buffer.from(JSON.stringify([...holds]));
  return AssignerProtocol.MemberMetadata.encode({ version: VERSION, topics: [...topics], userData });
}

/** The partitions that a member says it holds; none when it says nothing that can be read. */
export function readStanding(metadata: Buffer): number[] {
  try {
    const told: unknown = JSON.parse(
      AssignerProtocol.MemberMetadata.decode(metadata)?.userData.toString() ?? '[]',
    );
    return Array.isArray(told) ? told.filter((p) => Number.isInteger(p)) : [];
  } catch {
    return [];
  }
}

/** What the leader sends for a member, and what the member makes of it. */
export function shareOf(topics: readonly string[], partitions: readonly number[]): Buffer {
  const assignment = Object.fromEntries(topics.map((topic) => [topic, [...partitions]]));
  return AssignerProtocol.MemberAssignment.encode({
    version: VERSION,
    assignment,
    userData: Buffer.alloc(0),
  });
}

export function readShare(share: Buffer, topic: string): number[] {
  return AssignerProtocol.MemberAssignment.decode(share)?.assignment[topic] ?? [];
}
