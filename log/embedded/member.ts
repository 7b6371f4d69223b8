import { randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { FlipstreamError, hasCode } from '../../schemas/errors.ts';
import type { Core } from './core.ts';
import { integer, text } from './rows.ts';

/** How often a member looks for partitions to take; a look writes nothing unless there is something to do. */
const LOOK_MS = 100;

/**
 * A member of a consumer group and the partitions it holds. Partition p of every topic goes to one member.
 * A partition is held under an epoch; whoever takes it over raises the epoch, and `check`, in the very
 * transaction that would commit, finds out. Time only decides when a silent member may be replaced: a clock
 * that jumps costs a takeover, never a record.
 */
export interface Member {
  readonly owned: ReadonlyMap<number, number>;
  /** Holds more than its share while another has less. */
  surplus(): boolean;
  /** Only inside a write transaction. @throws FlipstreamError `fenced` */
  check(partition: number, epoch: number): void;
  /** Gives a partition up, or goes on holding it when the file cannot be written. */
  release(partition: number, epoch: number): Promise<void>;
  /** Looks now, and from then on regularly. */
  join(onChange: () => void): Promise<void>;
  leave(): Promise<void>;
}

type MemberCore = Pick<Core, 'db' | 'catalog' | 'clock' | 'leaseMs' | 'transact' | 'warn'>;

export function createMember(core: MemberCore, groupName: string, group: number): Member {
  const { db, catalog, clock, leaseMs } = core;
  const me = randomBytes(8).toString('hex');
  const owned = new Map<number, number>();
  let fair = catalog.partitions;
  let lastBeat = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | null = null;
  let left = false;
  /** When each other member's heartbeat was last seen to change, by this process's own steady clock. */
  const seen = new Map<string, { beat: number; at: number }>();

  const members = db.prepare('SELECT id, place, pid, expires, beat FROM member WHERE grp = ?');
  const leases = db.prepare('SELECT partition, epoch, owner FROM lease WHERE grp = ?');
  const held = db.prepare('SELECT epoch FROM lease WHERE grp = ? AND partition = ? AND owner = ?');
  const beat = db.prepare(`
    INSERT INTO member (grp, id, place, pid, expires, beat) VALUES (?, ?, ?, ?, ?, 1)
    ON CONFLICT (grp, id) DO UPDATE SET expires = excluded.expires, beat = beat + 1`);
  const drop = db.prepare('DELETE FROM member WHERE grp = ? AND id = ?');
  const freeAll = db.prepare('UPDATE lease SET owner = NULL, epoch = epoch + 1 WHERE grp = ? AND owner = ?');
  const free = db.prepare(
    'UPDATE lease SET owner = NULL, epoch = epoch + 1 WHERE grp = ? AND partition = ? AND owner = ? AND epoch = ?',
  );
  const take = db.prepare(`
    INSERT INTO lease (grp, partition, epoch, owner) VALUES (?, ?, 1, ?)
    ON CONFLICT (grp, partition) DO UPDATE SET owner = excluded.owner, epoch = epoch + 1 RETURNING epoch`);

  /** What the tables say now: who is dead, what is free, what is mine. */
  function survey() {
    const dead: string[] = [];
    const others = new Map<string, number>();
    for (const row of members.all(group)) {
      const id = text(row, 'id');
      if (id === me) continue;
      const beats = integer(row, 'beat');
      const before = seen.get(id);
      if (before?.beat !== beats) seen.set(id, { beat: beats, at: performance.now() });
      const silent = before?.beat === beats && performance.now() - before.at > leaseMs;
      const gone = text(row, 'place') === PLACE && !processLives(integer(row, 'pid'));
      if (silent || gone || integer(row, 'expires') <= clock()) dead.push(id);
      else others.set(id, 0);
    }
    const mine = new Map<number, number>();
    const taken = new Set<number>();
    for (const row of leases.all(group)) {
      const partition = integer(row, 'partition');
      if (row.owner === me) mine.set(partition, integer(row, 'epoch'));
      if (row.owner === null) continue;
      const owner = text(row, 'owner');
      if (!dead.includes(owner)) taken.add(partition);
      const holds = others.get(owner);
      if (holds !== undefined) others.set(owner, holds + 1);
    }
    const even = catalog.partitions / (others.size + 1);
    // Nobody keeps, or takes, one of the partitions left over while another lacks its even share.
    const lacking = [...others.values()].some((holds) => holds < Math.floor(even));
    const share = lacking ? Math.floor(even) : Math.ceil(even);
    const untaken = Array.from({ length: catalog.partitions }, (_, p) => p).filter((p) => !taken.has(p));
    return { dead, mine, share, wanted: untaken.slice(0, Math.max(0, share - mine.size)) };
  }

  async function look(): Promise<boolean> {
    const idle = survey();
    const due = performance.now() - lastBeat >= leaseMs / 3;
    if (!due && idle.dead.length === 0 && idle.wanted.length === 0) return adopt(idle.mine, idle.share);
    return core.transact(() => {
      if (left) return false;
      beat.run(group, me, PLACE, process.pid, clock() + leaseMs);
      lastBeat = performance.now();
      const { dead, mine, share, wanted } = survey();
      for (const id of dead) {
        freeAll.run(group, id);
        drop.run(group, id);
        seen.delete(id);
      }
      for (const partition of wanted) mine.set(partition, integer(take.get(group, partition, me), 'epoch'));
      return adopt(mine, share);
    });
  }

  /** Whether anything changed for whoever works on the partitions. */
  function adopt(mine: Map<number, number>, share: number): boolean {
    const same = mine.size === owned.size && [...mine].every(([p, epoch]) => owned.get(p) === epoch);
    if (same && share === fair) return false;
    fair = share;
    owned.clear();
    for (const [p, epoch] of mine) owned.set(p, epoch);
    return true;
  }

  async function keep(onChange: () => void): Promise<void> {
    if (left) return;
    try {
      if (await look()) onChange();
    } catch (error) {
      core.warn(`${groupName}: the lease could not be renewed; trying again`, error);
    }
    if (!left) timer = setTimeout(keep, Math.min(LOOK_MS, leaseMs / 3), onChange);
  }

  return {
    owned,
    surplus: () => owned.size > fair,
    check(partition, epoch) {
      const row = held.get(group, partition, me);
      if (row && integer(row, 'epoch') === epoch) return;
      throw new FlipstreamError(
        'fenced',
        'retryable',
        `${groupName}: partition ${partition} was taken over by another process; nothing was committed`,
      );
    },
    async release(partition, epoch) {
      if (owned.get(partition) === epoch) owned.delete(partition);
      try {
        await core.transact(() => free.run(group, partition, me, epoch));
      } catch (error) {
        // Held still: the next look finds it so.
        core.warn(`${groupName}: partition ${partition} could not be given up; trying again`, error);
      }
    },
    join: keep,
    async leave() {
      left = true;
      if (timer) clearTimeout(timer);
      owned.clear();
      await core.transact(() => {
        freeAll.run(group, me);
        drop.run(group, me);
      });
    },
  };
}

/** Where a process id means something: the host and, on Linux, the namespace of process ids. */
const PLACE = `${hostname()} ${pidNamespace()}`;

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return process.platform;
  }
}

function processLives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it lives and belongs to someone else.
    return !hasCode(error, 'ESRCH');
  }
}
