import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { pipe } from '../../producers/git/testing.ts';
import { bundleFiles, bundleText, makeBundle, readBundle } from './bundle.ts';
import { SESSION, sampleSession } from './testing.ts';

let root: string;
let dir: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'flipstream-bundle-'));
  dir = join(root, 'bundle');
  mkdirSync(dir);
});
afterEach(() => rmSync(root, { recursive: true }));

const { events, verdicts, ring } = sampleSession();
const bundle = makeBundle(SESSION, events, verdicts, ring);
const write = () => {
  for (const [name, text] of Object.entries(bundleFiles(bundle))) writeFileSync(join(dir, name), text);
};
const told = (message: RegExp) =>
  expect.objectContaining({ code: 'bundle_unreadable', message: expect.stringMatching(message) });

test('what is no bundle is told with the name of the file that is missing', () => {
  write();
  expect(readBundle(dir)).toEqual(bundle);
  rmSync(join(dir, 'events.jsonl'));
  expect(() => readBundle(dir)).toThrow(told(/events\.jsonl does not exist/));
  expect(() => readBundle(join(dir, 'nowhere'))).toThrow(told(/nowhere is not .* it does not exist/));
});

test.each([
  ['a named pipe', pipe],
  ['a folder', (path: string) => mkdirSync(path)],
  ['a link to a file outside', (path: string) => symlinkSync('/etc/passwd', path)],
  ['a link to a device', (path: string) => symlinkSync('/dev/zero', path)],
  ['a link to nothing', (path: string) => symlinkSync('nowhere', path)],
])('%s in the place of a file is refused, whichever it is', (_, make) => {
  for (const name of Object.keys(bundleFiles(bundle))) {
    write();
    rmSync(join(dir, name));
    make(join(dir, name));
    const refused = told(
      new RegExp(`^${dir} is not .*: ${name} cannot be read \\(it is .*no plain file\\)\\.$`),
    );
    expect(() => readBundle(dir)).toThrow(refused);
    rmSync(join(dir, name), { recursive: true });
  }
});

test('as one file, what is no plain file is refused, and a link that was named is followed', () => {
  const file = join(root, 'bundle.jsonl');
  writeFileSync(file, bundleText(bundle));
  symlinkSync(file, join(root, 'link.jsonl'));
  expect(readBundle(join(root, 'link.jsonl'))).toEqual(bundle);
  pipe(join(root, 'pipe.jsonl'));
  for (const path of [join(root, 'pipe.jsonl'), '/dev/zero'])
    expect(() => readBundle(path)).toThrow(told(/ is not .* it cannot be read \(it is no plain file\)\.$/));
});
