/** Issue 6, shown by 3: ATIF in and out, by the judgement of a published validator (PyPI's Phoenix client). */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { toAtif } from '../../jobs/export-atif.ts';
import { importBench, jsonl, transcript } from '../../producers/import/testing.ts';
import { trajectories } from '../../producers/import/testing-atif.ts';
import { ensurePython, pythonOf } from '../support/python-packages.ts';

const PYTHON = pythonOf('atif');
const VALIDATE = `
import json, sys
from phoenix.client.helpers.atif._validate import _validate_atif_trajectory as validate
for trajectory in json.load(sys.stdin):
    try: validate(trajectory); print('valid')
    except Exception as error: print(str(error).replace(chr(10), ' '))
`;

const missing = ensurePython('atif');
if (missing) console.error(`skipped: ${missing}`);

function validate(all: readonly object[]): string[] {
  const { stdout, stderr } = spawnSync(PYTHON, ['-c', VALIDATE], {
    input: JSON.stringify(all),
    encoding: 'utf8',
  });
  return stdout === '' ? [stderr] : stdout.trim().split('\n');
}

async function roundTrip(name: string, content: string): Promise<object> {
  const bench = importBench();
  try {
    bench.file(name, content);
    expect((await bench.run()).reasons).toEqual({});
    return toAtif(bench.log.events);
  } finally {
    bench.remove();
  }
}

test.skipIf(missing !== null)(
  'what goes in valid comes out valid and the same, for every release; so does what was no ATIF',
  async () => {
    const all = Object.entries(trajectories());
    expect(validate(all.map(([, trajectory]) => trajectory))).toEqual(all.map(() => 'valid'));
    const out = [];
    for (const [name, trajectory] of all) {
      const back = await roundTrip(`${name}.json`, JSON.stringify(trajectory));
      expect(back).toEqual(trajectory);
      out.push(back);
    }
    out.push(await roundTrip('a.jsonl', jsonl(transcript())));
    expect(validate(out)).toEqual(out.map(() => 'valid'));
  },
);
