/** docs/reference/cheating.md, out of the lists that the tests play. */
import type { Attack } from '../real/cheating/attack.ts';
import { CONTAINMENT } from '../real/cheating/containment.ts';
import { HOST } from '../real/cheating/from-the-host.ts';
import { JUNIT_ATTACKS, NODE_ATTACKS, PYTHON } from '../real/cheating/in-process.ts';
import { GO_ATTACKS } from '../real/cheating/in-process-go.ts';
import { LEFT_FILES } from '../real/cheating/left-files.ts';
import { PATHS, TRICKS } from '../real/cheating/paths.ts';

const NEVER = [...PATHS, ...TRICKS, ...CONTAINMENT];
const INSIDE = [...PYTHON, ...JUNIT_ATTACKS, ...NODE_ATTACKS, ...GO_ATTACKS];

const row = (...cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
const table = (head: string[], rows: string[][]) =>
  [row(...head), row(...head.map(() => '---')), ...rows.map((cells) => row(...cells))].join('\n');
const nameOf = ({ name, task }: Attack) =>
  name.includes(`${task}: `) || task === 'python' ? name : `${task}: ${name}`;
const count = (what: string) =>
  [...NEVER, ...INSIDE, ...LEFT_FILES, ...HOST].filter(({ seen }) => seen.startsWith(what)).length;
const FOLLOWED = { PASS: '**PASS**', FAIL: 'FAIL', either: '**PASS**, by chance' };
const caught = INSIDE.filter(({ inProcess }) => inProcess === 'caught').length;

export function cheatingPage(): string {
  return `# What was tried against the oracle

${NEVER.length + INSIDE.length} diffs, each graded by the container runner in the tests (\`tests/real/cheating\`), with tests in the
code's own process and with the same task's tests apart from the code (\`out_of_process\`); an honest change beside each
passes. ${LEFT_FILES.length} things that a program leaves for such tests to read. ${HOST.length} acts of an agent's host, each tried where it is decided. ${count('observed')} were observed elsewhere, ${count('invented')} are
inventions of ours, and ${count('tried')} were tried on an engine before anything was built. A test holds this page against the lists; \`npx vitest run tests/cheating-page.test.ts -u\` writes it anew.

## Never PASS, in either mode, and nothing leaks

${table(
  ['attack', 'origin'],
  NEVER.map((attack) => [nameOf(attack), attack.seen]),
)}

## On tests in the code's own process

${caught} of ${INSIDE.length} are caught. The others are why a verdict says \`evidence: in_process\`. Apart from the code, none passes.
Nor is it caught what code tells by sleeping or by the titles of its processes, which makes no PASS: the last acts of a host, below.

${table(
  ['attack', 'in process', 'out of process', 'origin'],
  INSIDE.map((attack) => [
    nameOf(attack),
    attack.inProcess === 'caught' ? 'caught' : '**not caught**',
    'FAIL',
    attack.seen,
  ]),
)}

## On what a program leaves

In the place of the file that tests which run apart from it are going to read. Never PASS where these
[read plain files only](../guides/writing-a-task.md#tests-that-never-load-the-code), as those of \`examples/out-of-process\` do.

${table(
  ['attack', 'read as a plain file', 'by a test that opens whatever is there', 'origin'],
  LEFT_FILES.map(({ name, followed, seen }) => [name, 'FAIL', FOLLOWED[followed], seen]),
)}

## From the agent's host

${table(
  ['attack', 'what comes of it', 'tried in', 'origin'],
  HOST.map(({ name, happens, tried, seen }) => [
    name,
    happens,
    [...new Set(tried.map(([file]) => `\`${file}\``))].join(', '),
    seen,
  ]),
)}
`;
}
