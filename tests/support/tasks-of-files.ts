/** The task of examples/out-of-process, with what is expected in files beside its tests. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Files, TaskSource } from './container-task.ts';

const text = (path: string) =>
  readFileSync(new URL(`../../examples/out-of-process/${path}`, import.meta.url), 'utf8');

/** @throws when it is not there: the example has changed. */
function replace(whole: string, ...pairs: [from: string, to: string][]): string {
  return pairs.reduce((left, [from, to]) => {
    if (!left.includes(from)) throw new Error(`examples/out-of-process no longer holds ${from}`);
    return left.replace(from, to);
  }, whole);
}

const { program } = z.object({ program: z.string() }).parse(JSON.parse(text('task.json')));
const LEDGER = text('repo/src/ledger.py');
const GOLDEN = { twice: 'bank -4\ncash 8\n', many: 'cash 1000\n', nothing: '' };

const CAREFUL = replace(
  text('hidden/tests/test_report.py'),
  ['def test_an', 'GOLDEN = pathlib.Path(__file__).parent / "golden"\n\n\ndef test_an'],
  ...Object.entries(GOLDEN).map(([name, expected]): [string, string] => [
    `== ${JSON.stringify(expected)}`,
    `== (GOLDEN / "${name}.txt").read_text()`,
  ]),
);

/** As one would write it who thinks of nothing: the program makes the folder, and whatever lies there is opened. */
const FOLLOWING = replace(
  CAREFUL,
  ['CALLS.mkdir()\nCALLS.chmod(0o1777)\n', ''],
  ['    source, target', '    there(CALLS)\n    source, target'],
  ['    file = os.open(', '    return path.read_text()\n    file = os.open('],
);

const task = (tests: string, start: string): TaskSource => ({
  files: { 'src/ledger.py': LEDGER, 'tests/test_ledger.py': text('repo/tests/test_ledger.py') },
  hidden: {
    'tests/test_report.py': tests,
    ...Object.fromEntries(
      Object.entries(GOLDEN).map(([name, expected]) => [`tests/golden/${name}.txt`, expected]),
    ),
  },
  task: {
    ...{ framework: 'pytest', suite: 'tests', hidden: ['tests/test_report.py'], timeout_s: 30 },
    ...{ evidence: 'out_of_process', program: start },
  },
});

/** Reads plain files only, in a folder of its own. */
export const CAREFUL_READER = task(CAREFUL, program);
export const LINK_FOLLOWER = task(FOLLOWING, `mkdir -m 777 /tmp/calls; ${program}`);

export const fixLedger = (): Files => ({
  'src/ledger.py': replace(LEDGER, ['= int(cents)', '= found.get(account, 0) + int(cents)']),
});

/** Still wrong, and for every call but the canary's does this in the place of writing a report. */
export const wrongLedger = (code: string): Files => ({
  'src/ledger.py': replace(
    LEDGER,
    ['import csv\n', 'import csv\nimport os\n'],
    [
      'def main(source, target):\n',
      `def main(source, target):
    name = os.path.basename(target)
    if not name.startswith("canary"):
        ${code.replaceAll('\n', '\n        ')}
        return
`,
    ],
  ),
});
