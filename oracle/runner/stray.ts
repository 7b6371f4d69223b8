import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Kills processes that left their group but still work under one of our run directories, told by their working
 * directory or by the HOME they were started with. Linux only, and best effort: the `process` runner cannot hold
 * a process that hides from it, which is why its verdicts say what they are.
 */
export function killStrays(prefix: string): number {
  if (process.platform !== 'linux') return 0;
  let killed = 0;
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid <= 1 || pid === process.pid || !belongs(pid, prefix)) continue;
    try {
      process.kill(pid, 'SIGKILL');
      killed++;
    } catch {
      // Ended meanwhile.
    }
  }
  return killed;
}

function belongs(pid: number, prefix: string): boolean {
  try {
    if (readlinkSync(`/proc/${pid}/cwd`).startsWith(prefix)) return true;
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
      .split('\0')
      .some((pair) => pair.startsWith(`HOME=${prefix}`));
  } catch {
    return false; // another user's, or gone
  }
}
