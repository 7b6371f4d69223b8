import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { SpoolEntry } from '../draft.ts';
import { payloads } from './fuzz.ts';
import { hookInProcess, hookProcess, memoryDisk, temporaryHome } from './testing.ts';

const place = temporaryHome();
afterAll(place.remove);

test('C9 1,500 fuzzed payloads through the main function: each kept in a form the collector reads, nothing printed', async () => {
  const disk = memoryDisk();
  let seen = 0;
  for (const payload of fc.sample(payloads(), { numRuns: 1_500, seed: 7 })) {
    expect(await hookInProcess(place.home, payload, { disk })).toBe('');
    expect(disk.written.length, payload.toString('latin1').slice(0, 200)).toBeGreaterThan(seen);
    seen = disk.written.length;
    if (seen % 10 === 0) SpoolEntry.parse(JSON.parse(disk.written.at(-1) ?? ''));
  }
});

test('C9 40 fuzzed payloads as processes: exit 0, nothing printed', async () => {
  const sample = fc.sample(payloads(), { numRuns: 40, seed: 11 });
  for (let at = 0; at < sample.length; at += 8) {
    const ran = await Promise.all(
      sample.slice(at, at + 8).map((payload) => hookProcess(place.home, payload)),
    );
    for (const one of ran) expect(one).toMatchObject({ code: 0, stdout: '', stderr: '' });
  }
});
