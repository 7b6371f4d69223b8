import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PartitionLag } from '../../log/log.ts';
import { addCommand, type Cli, handle, NoFlags } from '../command.ts';
import { counted } from '../counted.ts';
import { askCollector } from '../doctor/collector-status.ts';
import { hasLog, withLog } from '../open-log.ts';
import { withProgress } from '../progress.ts';
import { table } from '../table.ts';

/** How far one consumer group is behind on one topic. */
interface GroupLag {
  group: string;
  topic: string;
  records: number;
  behind: number;
}

/** `flipstream status`: what runs, and how far behind each part is. */
export function addStatus(cli: Cli): void {
  const command = addCommand(cli.program, 'status', 'say what runs and how far behind each part is');
  handle(cli, command, NoFlags, async ({ config, out, io }) => {
    const { home } = config;
    const spool = join(home.spool, 'new');
    const { collector, groups } = await withProgress(io.stderr, 'Asking', async () => ({
      collector: await askCollector(home),
      groups: hasLog(config) ? await withLog(config, async (log) => byGroup(await log.lag())) : [],
    }));
    const status = {
      home: home.root,
      capture: existsSync(home.paused) || config.off ? 'paused' : 'on',
      collector: collector === null ? 'stopped' : 'running',
      open_sessions: collector?.open_sessions ?? 0,
      unpublished: collector?.waiting ?? 0,
      spool: existsSync(spool) ? readdirSync(spool).length : 0,
      behind: groups.reduce((sum, each) => sum + each.behind, 0),
      groups,
    };
    out.result(status, () =>
      [
        `home       ${status.home}`,
        `capture    ${status.capture}`,
        `collector  ${status.collector}, ${counted(status.open_sessions, 'open session')}, ${counted(status.unpublished, 'event')} not published`,
        `spool      ${status.spool} waiting`,
        groups.length > 0
          ? `\n${table(['group', 'topic', 'records', 'behind'], groups)}`
          : 'log        nobody has read from it yet',
      ].join('\n'),
    );
  });
}

/** Partitions of a topic together. */
function byGroup(lags: readonly PartitionLag[]): GroupLag[] {
  const sums = new Map<string, GroupLag>();
  for (const { group, topic, committed, end } of lags) {
    const sum = sums.get(`${group}\n${topic}`) ?? { group, topic, records: 0, behind: 0 };
    sum.records += end;
    sum.behind += Math.max(0, end - committed);
    sums.set(`${group}\n${topic}`, sum);
  }
  return [...sums.values()];
}
