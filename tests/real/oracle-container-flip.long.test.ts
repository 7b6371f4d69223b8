/** The whole path with the real Claude Code and the container runner: a wrong fix is held, the right one flips. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Workspace } from '../../cli/demo/workspace.ts';
import { ensureOracleHome } from '../../oracle/home.ts';
import { initKey } from '../../oracle/keys/key.ts';
import { createAgent } from '../support/agent.ts';
import { type Files, git, writeFiles } from '../support/container-task.ts';
import { docker } from '../support/docker-engine.ts';
import { noContainers, testImage } from '../support/docker-image.ts';
import { expectChain, landed, outline, verified } from '../support/evidence.ts';
import { edit, read, says } from '../support/replies.ts';
import { startRig } from '../support/rig.ts';
import { fixPython, PYTEST } from '../support/tasks-in-containers.ts';

const skipped = await noContainers();
const image = await testImage();

interface Language {
  file: string;
  bug: string;
  wrong: string;
  right: string;
  /** Makes the task's folder. */
  task(folder: string): void;
}

/** The demo's task, with the same files, for a container. */
function forContainer(folder: string, change: Record<string, unknown>): void {
  const path = join(folder, 'task.json');
  const known: unknown = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify(Object.assign({}, known, { runner: 'container', image, ...change })));
}

const LANGUAGES: Record<string, Language> = {
  'a JavaScript task on node:test': {
    file: 'src/bill.js',
    bug: '() => share',
    wrong: '() => share + 1',
    right: '(_, person) => (person < cents % people ? share + 1 : share)',
    task: (folder) =>
      forContainer(folder, {
        ...{ framework: 'node:test', suite: 'test/*.test.js', hidden: ['test/bill-rest.test.js'] },
        reference: 'fix.patch',
      }),
  },
  'a Python task on pytest': {
    file: 'src/calc.py',
    bug: 'return sum(items) - 1',
    wrong: 'return sum(items) + 1',
    right: 'return sum(items)',
    task(folder) {
      const repository = join(folder, 'repo');
      for (const name of ['repo', 'hidden']) rmSync(join(folder, name), { recursive: true });
      mkdirSync(repository);
      git(repository, 'init', '--quiet');
      commit(repository, PYTEST.files);
      writeFiles(repository, fixPython());
      writeFileSync(join(folder, 'fix.patch'), git(repository, 'diff'));
      git(repository, 'checkout', '--quiet', '.');
      writeFiles(join(folder, 'hidden'), PYTEST.hidden);
      forContainer(folder, { ...PYTEST.task, reference: 'fix.patch' });
    },
  },
};

function commit(repository: string, files: Files): void {
  writeFiles(repository, files);
  git(repository, 'add', '--all');
  git(repository, 'commit', '--quiet', '--message', 'base');
}

describe.skipIf(skipped !== null)('in containers', () => {
  test.each(Object.entries(LANGUAGES))(
    '%s: a wrong fix FAIL, the right one PASS, a flip',
    async (_, language) => {
      let oracleHost = '';
      const arrange = ({ config, task }: Workspace) => {
        oracleHost = ensureOracleHome(config.oracleHome);
        initKey(config.oracleHome, 'container');
        language.task(task);
      };
      const rig = await startRig({ arrange });
      onTestFinished(rig.close);
      const agent = await createAgent(rig, 'agent');
      const file = join(agent.clone, language.file);
      const { sessionId } = await agent.run('Fix it.', [
        [says('I look first.'), read(file)],
        [says('I think I see it.'), edit(file, language.bug, language.wrong)],
        [says('I am done.')],
        [says('Held. I look again.'), edit(file, language.wrong, language.right)],
        [says('Now it is right.')],
      ]);
      expect(await landed(rig, sessionId, 'flipped')).toMatchObject({ attempts: 2, usable: true });
      const events = outline(await expectChain(rig, sessionId));
      expect(events.filter((line) => line.startsWith('oracle_verdict'))).toEqual([
        'oracle_verdict FAIL',
        'oracle_verdict PASS',
      ]);
      const verdicts = await rig.sql(
        `SELECT mode, verdict, runner, placement, evidence, image FROM verdicts WHERE _key = '${sessionId}' ORDER BY attempt`,
      );
      const signed = { runner: 'container', placement: 'same_host', evidence: 'in_process', image };
      expect(verdicts).toMatchObject([
        { mode: 'baseline', verdict: 'FAIL', ...signed },
        { mode: 'grade', verdict: 'FAIL', ...signed },
        { mode: 'grade', verdict: 'PASS', ...signed },
      ]);
      expect(await verified(rig, sessionId)).toMatchObject({ state: 'intact', flip: true });
      const filters = { label: [`flipstream.oracle=${oracleHost}`] };
      expect(await docker.listContainers({ all: true, filters })).toEqual([]);
    },
  );
});
