import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../../schemas/make-folder.ts';
import { isoTime } from '../../schemas/time.ts';
import { addCommand, type Cli, handle, NoFlags } from '../command.ts';

/** `pause` and `resume`: hooks and gate do nothing while the file is there. */
export function addPause(cli: Cli): void {
  const pause = addCommand(cli.program, 'pause', 'record nothing and block nothing until resume');
  handle(cli, pause, NoFlags, async ({ config, out, io }) => {
    const already = existsSync(config.home.paused);
    if (!already) {
      makeFolder(dirname(config.home.paused));
      writeFileSync(config.home.paused, `${isoTime(io.clock())}\n`, { mode: 0o600 });
    }
    out.result({ paused: true, changed: !already }, () =>
      already ? 'Paused already.' : 'Paused: hooks and gate do nothing until flipstream resume.',
    );
  });
  const resume = addCommand(cli.program, 'resume', 'record again after pause');
  handle(cli, resume, NoFlags, async ({ config, out }) => {
    const was = existsSync(config.home.paused);
    rmSync(config.home.paused, { force: true });
    out.result({ paused: false, changed: was }, () => (was ? 'Recording again.' : 'It was not paused.'));
  });
}
