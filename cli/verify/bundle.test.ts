import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { bundleFiles, makeBundle, readBundle } from './bundle.ts';
import { SESSION, sampleSession } from './testing.ts';

test('what is no bundle is told with the name of the file that is missing or cannot be read', () => {
  const dir = mkdtempSync(join(tmpdir(), 'flipstream-bundle-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const { events, verdicts, ring } = sampleSession();
  const bundle = makeBundle(SESSION, events, verdicts, ring);
  for (const [name, text] of Object.entries(bundleFiles(bundle))) writeFileSync(join(dir, name), text);
  expect(readBundle(dir)).toEqual(bundle);
  const told = (message: RegExp) =>
    expect.objectContaining({ code: 'bundle_unreadable', message: expect.stringMatching(message) });
  rmSync(join(dir, 'events.jsonl'));
  expect(() => readBundle(dir)).toThrow(told(/events\.jsonl is missing/));
  mkdirSync(join(dir, 'events.jsonl'));
  expect(() => readBundle(dir)).toThrow(told(/events\.jsonl is not .* it cannot be read \(EISDIR/));
  expect(() => readBundle(join(dir, 'nowhere'))).toThrow(told(/nowhere is not .* it does not exist/));
});
