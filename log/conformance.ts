/** What every engine of the log must do: one suite, run by each engine's own test file. */
import { describe } from 'vitest';
import { avroConforms } from './conformance/avro.ts';
import { groupsConform } from './conformance/groups.ts';
import { newerWritersConform } from './conformance/newer-writers.ts';
import { putBackConforms } from './conformance/put-back.ts';
import { reducersConform } from './conformance/reducers.ts';
import { retentionConforms } from './conformance/retention.ts';
import type { Harness, Rig } from './conformance/rig.ts';
import { topicsConform } from './conformance/topics.ts';

/** Registers the suite. @param open makes a fresh, empty log. */
export function logConforms(name: string, open: () => Promise<Rig>): void {
  const rigged: Harness = async (body) => {
    const rig = await open();
    try {
      await body(rig);
    } finally {
      await rig.close();
    }
  };
  describe(`the log on ${name}`, () => {
    topicsConform(rigged);
    putBackConforms(rigged);
    groupsConform(rigged);
    avroConforms(rigged);
    reducersConform(rigged);
    retentionConforms(rigged);
    newerWritersConform(rigged);
  });
}
