/**
 * Payloads of each harness, for tests and benchmarks: `recorded/` holds what the release that the table of capabilities
 * names has sent (ids and paths shortened), `documented/` what was written after the harness's documentation or source.
 */
import { existsSync, readFileSync } from 'node:fs';
import { asPayload, type Payload } from './payload.ts';

function linesOf(file: string): Payload[] {
  const url = new URL(file, import.meta.url);
  if (!existsSync(url)) return [];
  return readFileSync(url, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => asPayload(JSON.parse(line)) ?? {});
}

/** What the harness itself has sent; nothing of one that never ran here. */
export const recordedOf = (harness: string): Payload[] => linesOf(`recorded/${harness}.jsonl`);

/** What the harness sends by its documentation. */
const documentedOf = (harness: string): Payload[] => linesOf(`documented/${harness}.jsonl`);

/** All that there is of a harness. */
export const payloadsOf = (harness: string): Payload[] => [...recordedOf(harness), ...documentedOf(harness)];
