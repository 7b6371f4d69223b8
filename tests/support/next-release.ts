/** A release after this one, as a folder beside it: every event has a field more, and its collector fills it. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { mainScript } from '../../cli/package.ts';

/** What runs a release. */
export interface Release {
  main: string;
}

export const THIS_RELEASE: Release = { main: mainScript() };

/** The field that the next release adds, and what its collector writes there. */
export const ADDED = { name: 'mood', value: 'curious' };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['cli', 'consumers', 'jobs', 'log', 'oracle', 'plugin', 'producers', 'schemas', 'scripts'];
const Schema = z.looseObject({ fields: z.array(z.looseObject({})) });

export function nextRelease(): Release & { remove: () => void } {
  const root = mkdtempSync(join(tmpdir(), 'flipstream-next-'));
  for (const name of [...FOLDERS, 'streams', 'warehouse', 'package.json'])
    cpSync(join(ROOT, name), join(root, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  change(join(root, 'schemas/avro/trace-event.avsc'), (text) => {
    const schema = Schema.parse(JSON.parse(text));
    schema.fields.push({ name: ADDED.name, type: ['null', 'string'], default: null });
    return JSON.stringify(schema);
  });
  change(join(root, 'producers/collector/event.ts'), (text) =>
    text.replace('    v: EVENT_VERSION,\n', `$&    ${ADDED.name}: '${ADDED.value}',\n`),
  );
  for (const script of ['generate-types.ts', 'check-schemas.ts'])
    execFileSync(process.execPath, [join(root, 'scripts', script)], { stdio: 'inherit' });
  return {
    main: join(root, 'cli', 'main.ts'),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function change(path: string, by: (text: string) => string): void {
  const text = readFileSync(path, 'utf8');
  const changed = by(text);
  if (changed === text) throw new Error(`${path} has nothing to change: see tests/support/next-release.ts`);
  writeFileSync(path, changed);
}
