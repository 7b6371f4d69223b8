import { closeSync, fsyncSync, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs';
import type { Home } from '../home.ts';

/**
 * The count of what could not be kept, in a file that exists before the disk is full. Every process adds in a
 * place of its own (by its process id), so no lock is needed and none of 32 parallel hooks overwrites another;
 * the counts only grow. The first place belongs to the collector: how many of them it has told already.
 */
const SLOTS = 65_536;
const SLOT_BYTES = 4;
export const LOSSES_BYTES = SLOTS * SLOT_BYTES;

export interface Losses {
  /** Not yet told. */
  count: number;
  /** When the file was last changed, milliseconds since 1970. */
  lastMs: number;
}

/** @returns whether the loss is counted. */
export function countLoss(home: Home): boolean {
  return add(home, 1 + (process.pid % (SLOTS - 1)), 1);
}

/** What was lost and not told yet; nothing where there is no file. */
export function readLosses(home: Home): Losses {
  try {
    const bytes = readFileSync(home.losses);
    let count = -slot(bytes, 0);
    for (let index = 1; index < SLOTS; index++) count += slot(bytes, index);
    return { count: Math.max(0, count), lastMs: statSync(home.losses).mtimeMs };
  } catch {
    return { count: 0, lastMs: 0 };
  }
}

/**
 * Marks losses as told. Losses counted meanwhile stay. For the collector only, after its notice is durable.
 * @param count what readLosses gave
 */
export function resetLosses(home: Home, count: number): boolean {
  return add(home, 0, count);
}

function slot(bytes: Buffer, index: number): number {
  const at = index * SLOT_BYTES;
  return at + SLOT_BYTES <= bytes.length ? bytes.readUInt32LE(at) : 0;
}

function add(home: Home, index: number, count: number): boolean {
  try {
    const file = openSync(home.losses, 'r+');
    try {
      const bytes = Buffer.alloc(SLOT_BYTES);
      readSync(file, bytes, 0, SLOT_BYTES, index * SLOT_BYTES);
      bytes.writeUInt32LE((bytes.readUInt32LE(0) + count) >>> 0);
      writeSync(file, bytes, 0, SLOT_BYTES, index * SLOT_BYTES);
      fsyncSync(file);
      return true;
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}
