import { crc32 } from 'node:zlib';

/** Partition of a key. Fixed for ever: a key that changed its partition would lose its order and its state. */
export function partitionOf(key: string, partitions: number): number {
  return crc32(key) % partitions;
}
