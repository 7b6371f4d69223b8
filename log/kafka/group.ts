import { setTimeout as sleep } from 'node:timers/promises';
import type { Broker } from 'kafkajs/src/cluster/index.js';
import { FlipstreamError } from '../../schemas/errors.ts';
import { endsIt, isFenced } from '../running.ts';
import type { Warn } from '../warn.ts';
import { deal, readShare, readStanding, shareOf, standingOf } from './assign.ts';
import { kafkaCode, named } from './errors.ts';
import { type Committed, commitOf } from './offsets.ts';
import type { Wire } from './wire.ts';

/**
 * A member of a consumer group. Our own, since kafkajs tells nobody before partitions are taken away: here a
 * member goes on only when what it was doing is done.
 */
export interface Member {
  /** Partition numbers held, each under the generation of the group in which it was dealt. */
  readonly owned: ReadonlyMap<number, number>;
  /** Asks the coordinator now. @throws FlipstreamError `fenced` when this process is no member any more; then it joins anew. */
  check(): Promise<void>;
  /** @throws FlipstreamError `fenced`, `kafka_unavailable` */
  commit(committed: readonly Committed[]): Promise<void>;
  /**
   * Resolves when the member has left, which it does once `finish` has resolved.
   * @throws FlipstreamError of kind usage or fatal, which ends it
   */
  run(stopped: AbortSignal, finish?: () => Promise<unknown>): Promise<void>;
}

export interface MemberOptions {
  wire: Wire;
  group: string;
  topics: readonly string[];
  partitions: number;
  /** After this long without a sign of life the group goes on without a member. */
  sessionMs: number;
  /** Called before everything is given up for a new deal; until it resolves nobody else gets what is held. */
  giveUp: () => Promise<void>;
  /** `owned` has changed. */
  onDealt: () => void;
  warn: Warn;
}

/** The group waits this long for a member that finishes what it does. */
const REBALANCE_MS = 60_000;
const ANSWER_PAUSE_MS = 100;
const LAST_PAUSE_MS = 5_000;

export function createMember(options: MemberOptions): Member {
  const { wire, group, topics, partitions, sessionMs, giveUp, onDealt, warn } = options;
  const beatMs = Math.min(Math.max(sessionMs / 10, 50), 1_000);
  const owned = new Map<number, number>();
  let memberId = '';
  let generation = -1;
  let coordinator: Broker | null = null;
  /** Ends the pause between two heartbeats. */
  let hurry = new AbortController();

  async function join(): Promise<void> {
    const held = [...owned.keys()];
    const broker = await wire.groupCoordinator(group);
    coordinator = broker;
    const joined = await broker.joinGroup({
      groupId: group,
      sessionTimeout: sessionMs,
      rebalanceTimeout: REBALANCE_MS,
      memberId,
      groupProtocols: [{ name: 'flipstream', metadata: standingOf(topics, held) }],
    });
    memberId = joined.memberId;
    generation = joined.generationId;
    const leads = joined.leaderId === joined.memberId;
    const { memberAssignment } = await broker.syncGroup({
      groupId: group,
      generationId: generation,
      memberId,
      groupAssignment: leads ? sharesFor(joined.members) : [],
    });
    owned.clear();
    for (const p of readShare(memberAssignment, topics[0] ?? '')) owned.set(p, generation);
    onDealt();
  }

  function sharesFor(members: readonly { memberId: string; memberMetadata: Buffer }[]) {
    const standings = members.map((one) => ({
      memberId: one.memberId,
      holds: readStanding(one.memberMetadata),
    }));
    return [...deal(standings, partitions)].map(([id, share]) => ({
      memberId: id,
      memberAssignment: shareOf(topics, share),
    }));
  }

  async function beat(): Promise<void> {
    if (!coordinator || memberId === '') throw lost(group);
    try {
      await coordinator.heartbeat({ groupId: group, groupGenerationId: generation, memberId });
    } catch (error) {
      hurry.abort();
      // Asked to join anew, and a member until then.
      if (kafkaCode(error) !== 'REBALANCE_IN_PROGRESS') throw named(error, wire.brokers);
    }
  }

  /** Beats until the group wants something else of us. */
  async function stay(stopped: AbortSignal): Promise<void> {
    while (!stopped.aborted) {
      await sleep(beatMs, undefined, { signal: AbortSignal.any([stopped, hurry.signal]) }).catch(
        () => undefined,
      );
      if (stopped.aborted) return;
      hurry = new AbortController();
      try {
        await coordinator?.heartbeat({ groupId: group, groupGenerationId: generation, memberId });
      } catch (error) {
        if (kafkaCode(error) !== 'REBALANCE_IN_PROGRESS') throw error;
        await whileBeating(giveUp());
        return;
      }
    }
  }

  /** The coordinator drops a silent member, also one that is about to hand over. */
  async function whileBeating(work: Promise<void>): Promise<void> {
    let done = false;
    const finish = work.finally(() => {
      done = true;
    });
    while (!done) {
      await Promise.race([finish, sleep(beatMs)]);
      if (!done)
        await coordinator
          ?.heartbeat({ groupId: group, groupGenerationId: generation, memberId })
          .catch(() => undefined);
    }
    await finish;
  }

  return {
    owned,
    check: beat,
    async commit(committed) {
      if (!coordinator || memberId === '') throw lost(group);
      try {
        const topicsOf = commitOf(committed);
        await coordinator.offsetCommit({
          groupId: group,
          groupGenerationId: generation,
          memberId,
          topics: topicsOf,
        });
      } catch (error) {
        // While the others are asked to join anew, what we hold is still ours.
        if (kafkaCode(error) === 'REBALANCE_IN_PROGRESS') {
          hurry.abort();
          throw new FlipstreamError(
            'kafka_unavailable',
            'retryable',
            `${group}: the group is being dealt anew`,
            error,
          );
        }
        if (coordinatorMoved(error)) hurry.abort();
        throw named(error, wire.brokers);
      }
    },
    async run(stopped, finish = giveUp) {
      let pause = ANSWER_PAUSE_MS;
      try {
        while (!stopped.aborted) {
          try {
            await join();
            pause = ANSWER_PAUSE_MS;
            await stay(stopped);
          } catch (raw) {
            const error = named(raw, wire.brokers);
            if (endsIt(error)) throw error;
            const code = kafkaCode(raw);
            if (code === 'UNKNOWN_MEMBER_ID') memberId = '';
            await giveUp();
            owned.clear();
            onDealt();
            if (isFenced(error)) continue;
            if (pause > LAST_PAUSE_MS / 4) warn(`${group}: the group cannot be joined; trying again`, error);
            await sleep(pause, undefined, { signal: stopped }).catch(() => undefined);
            pause = Math.min(pause * 2, LAST_PAUSE_MS);
            await wire.refresh();
          }
        }
      } finally {
        await finish().catch(() => undefined);
        owned.clear();
        if (memberId !== '')
          await coordinator?.leaveGroup({ groupId: group, memberId }).catch(() => undefined);
        memberId = '';
      }
    },
  };
}

function lost(group: string): FlipstreamError {
  return new FlipstreamError('fenced', 'retryable', `${group}: this process is no member of the group now`);
}

function coordinatorMoved(error: unknown): boolean {
  const code = kafkaCode(error);
  return code === null || code === 'NOT_COORDINATOR_FOR_GROUP' || code === 'GROUP_COORDINATOR_NOT_AVAILABLE';
}
