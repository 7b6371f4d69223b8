import { homedir } from 'node:os';
import { join } from 'node:path';

/** The folder of each harness with this user's settings. */
export interface HarnessFolders {
  claude: string;
  codex: string;
  opencode: string;
  gemini: string;
  cursor: string;
  copilot: string;
  cline: string;
  openhands: string;
}

/**
 * Where each harness looks for this user's settings: by its own variable where it has one.
 * @throws what the system says of a user without a home directory.
 */
export function harnessFolders(env: NodeJS.ProcessEnv): HarnessFolders {
  const user = env.HOME || homedir();
  return {
    claude: env.CLAUDE_CONFIG_DIR || join(user, '.claude'),
    codex: env.CODEX_HOME || join(user, '.codex'),
    opencode: join(env.XDG_CONFIG_HOME || join(user, '.config'), 'opencode'),
    gemini: join(env.GEMINI_CLI_HOME || user, '.gemini'),
    cursor: join(user, '.cursor'),
    copilot: env.COPILOT_HOME || join(user, '.copilot'),
    cline: join(user, '.cline'),
    openhands: join(user, '.openhands'),
  };
}
