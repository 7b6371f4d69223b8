/** Payloads of every harness with something wrong in them: no crash, each kept in a form that the collector reads. */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { harnessPayloads } from '../../producers/adapters/fuzz.ts';
import { SpoolEntry } from '../../producers/draft.ts';
import { BLOCK_OUTPUT } from '../../producers/gate/gate.ts';
import { hookInProcess, memoryDisk, temporaryHome } from '../../producers/hook/testing.ts';

const place = temporaryHome();
afterAll(place.remove);

const ROUNDS = 20;
const PER_ROUND = 5_000;

test('C9 100,000 fuzzed payloads over all adapters: nothing printed, nothing lost', async () => {
  const harnesses = new Map<string, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const disk = memoryDisk();
    for (const payload of fc.sample(harnessPayloads(), { numRuns: PER_ROUND, seed: 2000 + round })) {
      const before = disk.written.length;
      expect(await hookInProcess(place.home, payload, { disk }), payload.toString()).toBe('');
      expect(disk.written.length, payload.toString()).toBeGreaterThan(before);
    }
    for (const text of disk.written) {
      expect(text).not.toContain(BLOCK_OUTPUT);
      const { harness } = SpoolEntry.parse(JSON.parse(text));
      harnesses.set(harness, (harnesses.get(harness) ?? 0) + 1);
    }
  }
  for (const harness of [
    'claude-code',
    'codex',
    'opencode',
    'gemini',
    'cursor',
    'copilot',
    'cline',
    'openhands',
  ])
    expect(harnesses.get(harness) ?? 0, harness).toBeGreaterThan(1_000);
});
