import { readFileSync } from 'node:fs';
import { hasCode } from '../../schemas/errors.ts';

/** This process, told from a later one of the same number: containers carry it. */
export function ownerId(): string {
  return `${process.pid}-${startOf(process.pid) ?? 0}`;
}

/** Whether the process that made a container still lives. */
export function ownerLives(owner: string): boolean {
  const [pid = 0, start = 0] = owner.split('-').map(Number);
  const now = startOf(pid);
  return now === null ? isRunning(pid) : now === start;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}

/** Clock ticks from the machine's start to the process's; null where there is no /proc, or no such process. */
function startOf(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
  } catch {
    return null;
  }
}
