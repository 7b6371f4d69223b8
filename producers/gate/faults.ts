import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../schemas/hash.ts';
import type { Home } from '../home.ts';
import { readState, writeState } from './state-file.ts';

/** Blocks that the gate gave on its own, since the collector last answered it. */
export interface Faults {
  /** It could not work at all. */
  failed: number;
  /** It worked and ran out of time. */
  late: number;
}

function fileOf(home: Home, sessionId: string): string {
  return join(home.root, 'gate', `${sha256(sessionId)}.faults.json`);
}

export function readFaults(home: Home, sessionId: string): Faults {
  const state = readState(fileOf(home, sessionId));
  const count = (value: unknown) => (typeof value === 'number' && value > 0 ? value : 0);
  return { failed: count(state?.failed), late: count(state?.late) };
}

/** @throws when the disk refuses: then nobody may block, since the block could not be counted */
export function writeFaults(home: Home, sessionId: string, faults: Faults): void {
  writeState(fileOf(home, sessionId), faults, 'replace');
}

export function clearFaults(home: Home, sessionId: string): void {
  rmSync(fileOf(home, sessionId), { force: true });
}
