/** Checks of the way to the oracle: reachable, token good, key ring right, and this folder ready for a task. */
import { existsSync } from 'node:fs';
import type { OracleHome } from '../../oracle/home.ts';
import { keyKind } from '../../oracle/keys/key.ts';
import { exportKeyRing } from '../../oracle/keys/ring.ts';
import { headOf } from '../../producers/git/head.ts';
import { findRepository } from '../../producers/git/repository.ts';
import { findGit } from '../../producers/git/run.ts';
import type { Home } from '../../producers/home.ts';
import { askOracle, type OracleAt } from '../../producers/oracle-client.ts';
import { readProjectConfig } from '../../producers/project-config.ts';
import { readSettings } from '../../producers/settings.ts';
import { messageOf } from '../../schemas/errors.ts';
import type { KeyRing } from '../../schemas/signature.ts';
import { keyRingHash, trustedKeyRing } from '../key-ring.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const ASK_MS = 5000;

/** Asks for a task that does not exist: 404 means that the oracle is there and knows the token. */
export async function checkOracle(oracle: OracleAt | undefined): Promise<Finding> {
  if (!oracle) return problem('oracle', 'No oracle is configured.', 'Run: flipstream init claude-code');
  try {
    const signal = AbortSignal.timeout(ASK_MS);
    const response = await askOracle(oracle, '/v1/tasks/doctor', { signal });
    response.destroy();
    return response.statusCode === 401
      ? problem(
          'oracle',
          `The oracle at ${oracle.url} does not know our token.`,
          'Run: flipstream init claude-code --rotate',
        )
      : ok('oracle', `The oracle at ${oracle.url} answers.`);
  } catch (error) {
    return problem(
      'oracle',
      `The oracle at ${oracle.url} cannot be reached (${messageOf(error)}).`,
      'Run: flipstream up',
    );
  }
}

/** The key ring is there, is the accepted one, and holds the key of the oracle on this machine, if there is one. */
export function checkKeyRing(home: Home, oracleHome: OracleHome): Finding {
  if (!existsSync(home.keyRing))
    return problem(
      'key-ring',
      `There is no key ring at ${home.keyRing}: no verdict can be accepted.`,
      'Run flipstream init claude-code, or flipstream key-ring accept with the oracle operator\u2019s.',
    );
  try {
    const ring = trustedKeyRing(home);
    if (!holdsKeyOf(oracleHome, ring))
      return problem(
        'key-ring',
        `The key ring lacks the key of the oracle at ${oracleHome.root}: its verdicts are rejected.`,
        'Run: flipstream oracle key export > ring.json && flipstream key-ring accept ring.json',
      );
    return readSettings(home).key_ring_sha256 === undefined
      ? warning(
          'key-ring',
          `The key ring is not pinned: whatever keys stand in ${home.keyRing} when the streams start count.`,
          'Run: flipstream key-ring accept',
        )
      : ok('key-ring', `The key ring is the accepted one, SHA-256 ${keyRingHash(ring)}.`);
  } catch (error) {
    return problem('key-ring', messageOf(error), 'Do what the message says, or see who changed the file.');
  }
}

/** True as well where there is no oracle on this machine. */
function holdsKeyOf(oracleHome: OracleHome, ring: KeyRing): boolean {
  if (!existsSync(oracleHome.root)) return true;
  const own = exportKeyRing(oracleHome, keyKind(oracleHome) ?? 'process').keys.at(-1);
  return ring.keys.some((key) => key.key_id === own?.key_id && key.public_key === own.public_key);
}

/** Whether a session that starts in this folder can be graded. @param path value of PATH, to find git. */
export async function checkTask(cwd: string, path: string | undefined): Promise<Finding> {
  const repository = findRepository(cwd);
  const project = readProjectConfig(repository?.top ?? cwd);
  if (project.problem) return problem('task', project.problem, `Mend ${project.file}.`);
  if (project.off) return warning('task', `${project.file} turns capture off here.`, 'Remove "off" from it.');
  if (project.task_id === null)
    return ok('task', 'No task is chosen in this folder: sessions are recorded, not graded.');
  const start = `Run: flipstream task start ${project.task_id}`;
  if (!repository)
    return warning(
      'task',
      `Task ${project.task_id} is chosen in a folder that is no repository: it will not be graded.`,
      start,
    );
  const base = project.base_commit;
  const head = await headOf(
    { bin: findGit(path, repository.top), signal: AbortSignal.timeout(ASK_MS) },
    repository,
  );
  return base !== null && head !== base
    ? warning(
        'task',
        `HEAD is ${head?.slice(0, 12) ?? 'unknown'}, and the base of ${project.task_id} is ${base.slice(0, 12)}: a session that starts here will not be graded.`,
        start,
      )
    : ok('task', `Task ${project.task_id} is chosen in this folder.`);
}
