/** Whether the agent's user can open the container engine's socket (oracle-design, "Where things live"). */
import { accessSync, constants } from 'node:fs';
import type { OracleHome } from '../../oracle/home.ts';
import { keyKind } from '../../oracle/keys/key.ts';
import { readOracleSettings } from '../../oracle/settings.ts';
import type { Home } from '../../producers/home.ts';
import { isShared } from '../../producers/shared-home.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const DOCKER_SOCKET = '/var/run/docker.sock';

export interface Guarded {
  home: Home;
  oracleHome: OracleHome;
  /** Address of the oracle that grades this host's sessions. */
  oracleUrl: string | undefined;
}

/**
 * Whoever can open the engine's socket is root, and can read the oracle's secrets. That is a problem where something on
 * this machine is to keep the agent from them: containers, or another user. Where nothing does, it takes nothing away.
 * @param usual where the engine listens unless the oracle's settings name another socket
 */
export function checkDocker({ home, oracleHome, oracleUrl }: Guarded, usual = DOCKER_SOCKET): Finding {
  const containers = keyKind(oracleHome) === 'container';
  const socket = (containers && readOracleSettings(oracleHome).socket) || usual;
  try {
    accessSync(socket, constants.R_OK | constants.W_OK);
  } catch {
    return ok('docker', `This user cannot open ${socket}.`);
  }
  const boundary = containers
    ? `the containers of the oracle at ${oracleHome.root}`
    : isShared(home) || oracleUrl?.startsWith('unix:')
      ? 'the users that the collector and the oracle run as'
      : null;
  const mend = 'Run the agent as a user outside the docker group, or the oracle on another machine.';
  return boundary === null
    ? warning(
        'docker',
        `This user can open ${socket}, which is as good as root: agent code could read the oracle's hidden tests and key.`,
        mend,
      )
    : problem(
        'docker',
        `This user can open ${socket}, which is as good as root: ${boundary} keep agent code from nothing, not from hidden tests nor from the key.`,
        mend,
      );
}
