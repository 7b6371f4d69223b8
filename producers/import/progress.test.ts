import { afterEach, beforeEach, expect, test } from 'vitest';
import { importPaths } from './import.ts';
import { type Bench, importBench, jsonl, transcript } from './testing.ts';

let bench: Bench;
beforeEach(() => {
  bench = importBench();
});
afterEach(() => bench.remove());

const run = (more: Partial<Parameters<typeof importPaths>[0]>) =>
  importPaths({
    ...{ paths: [bench.folder], home: bench.home, log: bench.log },
    ...{ clock: Date.now, limit: 1024, warn: () => {}, ...more },
  });

/** A document of about four megabytes: several parts, read twice. */
function document(): string {
  const step = { action: 'ls', observation: 'x'.repeat(400_000), response: 'look' };
  return JSON.stringify({ environment: 't', trajectory: Array.from({ length: 10 }, () => step) });
}

test('how far an import is, is told while lines and documents are read, never less than before, and all in the end', async () => {
  const long = { ...transcript()[0], uuid: 'long', note: 'x'.repeat(4_000_000) };
  bench.file('a.jsonl', jsonl([long, ...transcript()]));
  bench.file('b.traj', document());
  bench.file('c.md', 'no trajectory');
  const told: number[] = [];
  let whole = 0;
  await run({
    progress: (done, all) => {
      told.push(done);
      whole = all;
    },
  });
  expect(told.at(-1)).toBe(whole);
  expect(told).toEqual([...told].sort((a, b) => a - b));
  for (const eighth of [1, 2, 3, 4, 5, 6, 7])
    expect(told.some((done) => done >= (whole * eighth) / 8 && done < (whole * (eighth + 1)) / 8)).toBe(true);
});

test('an import that is stopped in the first reading of a document tells nothing of it', async () => {
  bench.file('b.traj', document());
  const stop = new AbortController();
  const stopped = run({ signal: stop.signal, progress: () => stop.abort(new Error('enough')) });
  await expect(stopped).rejects.toThrow('enough');
  expect(bench.log.events).toEqual([]);
});
