import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { FlipstreamError, messageOf } from '../../schemas/errors.ts';
import { parseJson } from '../../schemas/parse-json.ts';
import { replaceFile } from '../files.ts';
import type { OracleHome } from '../home.ts';
import type { Sealer } from '../sealed/sealer.ts';
import { TaskDefinition, TaskId } from './definition.ts';
import { type HiddenFile, testsHash } from './tests-hash.ts';

/** What of an open oracle the store needs. */
export interface StoreAt {
  home: OracleHome;
  sealer: Sealer;
}

/** A task as it lies in the store. */
export interface StoredTask {
  definition: TaskDefinition;
  hidden: HiddenFile[];
  /** The diff that solves it; no part of what is hashed, since no verdict depends on it. */
  reference: Buffer | null;
  tests_hash: string;
  mirror: string;
}

const Base64 = z.base64().transform((text) => Buffer.from(text, 'base64'));
const Content = z.object({
  definition: TaskDefinition,
  hidden: z.array(z.object({ path: z.string(), executable: z.boolean(), content: Base64 })),
  reference: Base64.nullable(),
});

export const mirrorOf = (home: OracleHome, taskId: string): string => join(home.mirrors, `${taskId}.git`);

const nameOf = (taskId: string) => `${taskId}.task`;

/** Puts a task into the store, sealed, whole or not at all, in place of an earlier one of its id. */
export function storeTask(
  { home, sealer }: StoreAt,
  { definition, hidden, reference }: Pick<StoredTask, 'definition' | 'hidden' | 'reference'>,
): void {
  const name = nameOf(definition.task_id);
  const content = {
    definition,
    hidden: hidden.map((file) => ({ ...file, content: file.content.toString('base64') })),
    reference: reference?.toString('base64') ?? null,
  };
  replaceFile(join(home.store, name), sealer.seal(name, Buffer.from(JSON.stringify(content))));
}

/**
 * Opens a task and hashes it as it now is.
 * @returns null when there is none of this id.
 * @throws FlipstreamError `store_sealed_otherwise`, `task_invalid` (fatal) when what lies in the store cannot be read.
 */
export function loadTask({ home, sealer }: StoreAt, taskId: string): StoredTask | null {
  if (!TaskId.safeParse(taskId).success) return null;
  const name = nameOf(taskId);
  const path = join(home.store, name);
  if (!existsSync(path)) return null;
  const bytes = sealer.open(name, readFileSync(path));
  try {
    const task = Content.parse(parseJson(bytes.toString('utf8')));
    return { ...task, tests_hash: testsHash(task.definition, task.hidden), mirror: mirrorOf(home, taskId) };
  } catch (cause) {
    throw new FlipstreamError(
      'task_invalid',
      'fatal',
      `task ${taskId} in ${home.store} cannot be read (${messageOf(cause)}); add it again`,
      cause,
    );
  }
}

/** The task of this id. @throws FlipstreamError `task_unknown` (usage), or what `loadTask` throws. */
export function knownTask(at: StoreAt, taskId: string): StoredTask {
  const task = loadTask(at, taskId);
  if (task) return task;
  throw new FlipstreamError(
    'task_unknown',
    'usage',
    `There is no task ${taskId}; see: flipstream oracle task list`,
  );
}
