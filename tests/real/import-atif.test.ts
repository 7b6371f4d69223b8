/** Issue 6, shown by 3: ATIF in and out, by the judgement of a published validator (PyPI's Phoenix client). */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toAtif } from '../../jobs/export-atif.ts';
import { importBench, jsonl, transcript } from '../../producers/import/testing.ts';
import { trajectories } from '../../producers/import/testing-atif.ts';

const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'flipstream-tests', 'atif');
const PYTHON = join(CACHE, 'bin', 'python');
const PACKAGE = 'arize-phoenix-client==3.5.0';
const VALIDATE = `
import json, sys
from phoenix.client.helpers.atif._validate import _validate_atif_trajectory as validate
for trajectory in json.load(sys.stdin):
    try: validate(trajectory); print('valid')
    except Exception as error: print(str(error).replace(chr(10), ' '))
`;

/** @returns why it cannot be installed, or null. */
function install(): string | null {
  const have = () =>
    existsSync(PYTHON) && spawnSync(PYTHON, ['-c', 'import phoenix.client.helpers.atif']).status === 0;
  if (have()) return null;
  mkdirSync(CACHE, { recursive: true });
  const venv = spawnSync('python3', ['-m', 'venv', CACHE], { encoding: 'utf8' });
  if (venv.status !== 0) return `python3 -m venv failed: ${venv.stderr ?? venv.error?.message}`;
  const pip = spawnSync(PYTHON, ['-m', 'pip', 'install', '--quiet', PACKAGE], { encoding: 'utf8' });
  return have() ? null : `pip install ${PACKAGE} failed: ${pip.stderr}`;
}

const missing = install();
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
