/** The full counts of the line "Shown by 6"; `npm test` runs a part of them (producers/hook/fuzz.test.ts). */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { SpoolEntry } from '../../producers/draft.ts';
import { payloads } from '../../producers/hook/fuzz.ts';
import { hookInProcess, hookProcess, memoryDisk, temporaryHome } from '../../producers/hook/testing.ts';

const place = temporaryHome();
afterAll(place.remove);

const ROUNDS = 20;
const PER_ROUND = 5_000;

test('100,000 fuzzed payloads through the main function', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const disk = memoryDisk();
    for (const payload of fc.sample(payloads(), { numRuns: PER_ROUND, seed: 1000 + round })) {
      const before = disk.written.length;
      expect(await hookInProcess(place.home, payload, { disk })).toBe('');
      expect(disk.written.length).toBeGreaterThan(before);
    }
    for (const text of disk.written) SpoolEntry.parse(JSON.parse(text));
  }
});

test('500 fuzzed payloads as processes: exit 0, nothing printed', async () => {
  const sample = fc.sample(payloads(), { numRuns: 500, seed: 42 });
  for (let at = 0; at < sample.length; at += 10) {
    const ran = await Promise.all(
      sample.slice(at, at + 10).map((payload) => hookProcess(place.home, payload)),
    );
    for (const one of ran) expect(one).toMatchObject({ code: 0, stdout: '', stderr: '' });
  }
});
