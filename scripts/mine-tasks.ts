/**
 * Makes tasks out of a repository's history: every commit that changes tests and sources is drafted, added to an
 * oracle of its own, and checked; what is refused is refused with the reason. Prints a table, and keeps nothing
 * but the oracle's home.
 *
 *   node scripts/mine-tasks.ts <repository> <oracle home> [newest n commits, default 200] [tasks, default 10] [image]
 *
 * With an image (by id or digest) each task is checked in containers.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gitOk } from '../oracle/git.ts';
import { ensureOracleHome, oracleLayout } from '../oracle/home.ts';
import { initKey } from '../oracle/keys/key.ts';
import { type Oracle, openOracle } from '../oracle/oracle.ts';
import { taskAdd } from '../oracle/tasks/add.ts';
import { taskCheck } from '../oracle/tasks/check.ts';
import { draftTask, writeDraft } from '../oracle/tasks/draft.ts';
import { messageOf } from '../schemas/errors.ts';

const [, , repository = '', home = '', commits = '200', most = '10', image] = process.argv;

interface Mined {
  commit: string;
  outcome: 'ready' | 'refused' | 'no candidate';
  why: string;
}

/** Commits with one parent, newest first. */
async function history(): Promise<string[]> {
  const args = ['-C', repository, 'log', '--no-merges', '--format=%H', `-${Number(commits)}`];
  return (await gitOk(args)).toString().trim().split('\n');
}

async function mine(oracle: Oracle, commit: string, scratch: string): Promise<Mined> {
  const id = `mined-${commit.slice(0, 10)}`;
  const dir = join(scratch, id);
  try {
    const draft = await draftTask(id, { repository: resolve(repository), fix: commit });
    writeDraft(
      dir,
      image === undefined ? draft : { ...draft, file: { ...draft.file, runner: 'container', image } },
    );
  } catch (error) {
    return { commit, outcome: 'no candidate', why: messageOf(error).replace(/^[^:]*: /, '') };
  }
  try {
    await taskAdd(oracle, dir);
    const { row } = await taskCheck(oracle, id);
    const left = row.suite_excluded ? `${row.suite_excluded} tests of the suite left out` : '';
    return row.status === 'ready'
      ? { commit, outcome: 'ready', why: left }
      : { commit, outcome: 'refused', why: row.reason ?? '' };
  } catch (error) {
    return { commit, outcome: 'refused', why: messageOf(error) };
  }
}

mkdirSync(home, { recursive: true, mode: 0o700 });
const place = oracleLayout(resolve(home));
if (image !== undefined) {
  ensureOracleHome(place);
  initKey(place, 'container');
}
const oracle = openOracle({ home: place });
const scratch = mkdtempSync(join(tmpdir(), 'flipstream-mine-'));
try {
  const found: Mined[] = [];
  for (const commit of await history()) {
    if (found.filter(({ outcome }) => outcome === 'ready').length >= Number(most)) break;
    const mined = await mine(oracle, commit, scratch);
    found.push(mined);
    if (mined.outcome !== 'no candidate')
      process.stdout.write(`${commit.slice(0, 10)}  ${mined.outcome.padEnd(8)}${mined.why}\n`);
  }
  const count = (outcome: Mined['outcome']) => found.filter((one) => one.outcome === outcome).length;
  process.stdout.write(
    `${found.length} commits: ${count('ready')} ready, ${count('refused')} refused, ${count('no candidate')} no candidates\n`,
  );
} finally {
  oracle.close();
  rmSync(scratch, { recursive: true, force: true });
}
