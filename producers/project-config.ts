import { join } from 'node:path';
import { readPlainFile } from './git/plain-file.ts';
import { jsonObject } from './json-object.ts';

export const DEFAULT_ATTEMPTS = 6;
/** No project may ask for more (oracle-design): the oracle does not grant more either. */
export const MAX_ATTEMPTS = 20;

/** What a project says about its sessions: the one file of ours inside it, so nothing here is trusted. */
export interface ProjectConfig {
  /** Where it was read, relative to the working tree; null when there is none. */
  file: string | null;
  task_id: string | null;
  /** Grades asked for at most, 1 to 20. */
  max_attempts: number;
  /** The commit the task is about, when the file names one. */
  base_commit: string | null;
  /** The project opts out of capture and gate. */
  off: boolean;
  /** One sentence for the person when the file is there and cannot be used. */
  problem: string | null;
}

const CONFIG_FILES = ['.flipstream/config.json', '.oracle-flip/config.json'] as const;

/**
 * Reads `.flipstream/config.json` of a working tree, or `.oracle-flip/config.json` (the reference plugin's)
 * when it is absent. Unknown fields are ignored; a wrong value counts as absent and is named in `problem`.
 * Never throws.
 */
export function readProjectConfig(top: string): ProjectConfig {
  for (const file of CONFIG_FILES) {
    const bytes = readPlainFile(join(top, file), 64 * 1024);
    if (bytes) return parseProjectConfig(bytes.toString('utf8'), file);
  }
  return { ...NOTHING };
}

const NOTHING: ProjectConfig = {
  file: null,
  task_id: null,
  max_attempts: DEFAULT_ATTEMPTS,
  base_commit: null,
  off: false,
  problem: null,
};

/** Exported for tests. @param file name for messages */
export function parseProjectConfig(text: string, file: string): ProjectConfig {
  const config: ProjectConfig = { ...NOTHING, file };
  const wrong: string[] = [];
  const raw = jsonObject(text);
  if (!raw)
    return { ...config, problem: `${file} is not a JSON object, so it is ignored: correct or remove it.` };
  const { task_id: task, max_attempts: attempts, base_commit: base, off } = raw;
  if (typeof task === 'string' && /^[\w.:@/+-]{1,128}$/.test(task)) config.task_id = task;
  else if (task !== undefined && task !== null)
    wrong.push('task_id (a name of 1 to 128 letters, digits, . : @ / + _ -)');
  if (typeof attempts === 'number' && Number.isInteger(attempts) && attempts >= 1) {
    config.max_attempts = Math.min(attempts, MAX_ATTEMPTS);
  } else if (attempts !== undefined && attempts !== null)
    wrong.push('max_attempts (a whole number from 1 to 20)');
  if (typeof base === 'string' && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(base)) config.base_commit = base;
  else if (base !== undefined && base !== null) wrong.push('base_commit (a full commit id)');
  if (typeof off === 'boolean') config.off = off;
  else if (off !== undefined && off !== null) wrong.push('off (true or false)');
  if (wrong.length > 0)
    config.problem = `${file} has a wrong value, which is ignored, for ${wrong.join(', ')}.`;
  return config;
}
