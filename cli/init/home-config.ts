import { renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Home } from '../../producers/home.ts';
import type { Settings } from '../../producers/settings.ts';
import { makeFolder } from '../../schemas/make-folder.ts';

/** Replaces the home's settings (`config.json`) at once, readable by their owner alone. */
export function writeHomeConfig(home: Home, settings: Settings): void {
  makeFolder(dirname(home.config));
  const fresh = `${home.config}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  renameSync(fresh, home.config);
}
