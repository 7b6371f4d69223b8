import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from './cache-folder.ts';

const call = promisify(execFile);

export interface Artifact {
  group: string;
  name: string;
  version: string;
}

/**
 * Jars of the artifacts and all that they need, kept under this name for the next run.
 *
 * @returns the folder, or why it could not be filled.
 */
export async function fetchJars(
  name: string,
  artifacts: readonly Artifact[],
): Promise<{ folder: string } | { reason: string }> {
  const folder = join(cacheFolder(), name);
  if (existsSync(folder)) return { folder };
  try {
    await call('mvn', ['--version'], { timeout: 60_000 });
  } catch {
    return { reason: 'there is no Maven to fetch a broker with' };
  }
  try {
    await fetchInto(folder, artifacts);
    return { folder };
  } catch (error) {
    return { reason: `Maven did not fetch the broker (${error instanceof Error ? error.message : error})` };
  }
}

/** The folder appears whole or not at all: another test may be looking for it. */
async function fetchInto(folder: string, artifacts: readonly Artifact[]): Promise<void> {
  mkdirSync(cacheFolder(), { recursive: true });
  const work = mkdtempSync(join(cacheFolder(), 'fetching-'));
  try {
    writeFileSync(join(work, 'pom.xml'), pomOf(artifacts));
    await call(
      'mvn',
      ['-B', '-q', '-f', join(work, 'pom.xml'), 'dependency:copy-dependencies', '-DoutputDirectory=jars'],
      { timeout: 300_000 },
    );
    if (readdirSync(join(work, 'jars')).length === 0) throw new Error('it brought nothing');
    if (!existsSync(folder)) renameSync(join(work, 'jars'), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const dependency = ({ group, name, version }: Artifact) =>
  `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`;

const pomOf = (artifacts: readonly Artifact[]) => `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>flipstream</groupId><artifactId>test-broker</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    ${artifacts.map(dependency).join('\n    ')}
  </dependencies>
</project>
`;
