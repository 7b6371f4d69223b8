/** What holds in a container of the runner's, and what is whose fault; on a real engine. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { outcomeOf } from '../../oracle/runner/outcome.ts';
import { searchImage } from '../../oracle/runner/search-image.ts';
import { type Files, git, makeTask } from '../support/container-task.ts';
import { docker } from '../support/docker-engine.ts';
import { noContainers, testImage } from '../support/docker-image.ts';
import { ours, shell } from '../support/shell-task.ts';
import { HTTP, NODE, PYTEST } from '../support/tasks-in-containers.ts';

const skipped = await noContainers();

describe.skipIf(skipped !== null)('the container runner', () => {
  afterEach(async () => expect(await ours()).toEqual([]));

  test('graded code has no network, no capabilities, no way up, and can write nothing but its own memory', async () => {
    const look = [
      'id -u; grep -E "^(CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status | tr "\\t\\n" "  "; echo',
      'ls /sys/class/net | tr "\\n" " "; echo',
      'for place in / /etc /usr /work /work/repo /work/repo/src /work/repo/.git /work/lib /scratch /proc/sys /sys/fs/cgroup; do (echo x >$place/x) 2>/dev/null && echo wrote $place; done',
      '(echo x >keep.txt) 2>/dev/null && echo wrote keep.txt; rm -f keep.txt 2>/dev/null; cat keep.txt',
      'kill -9 1 2>/dev/null && echo killed; cat /proc/1/environ >/dev/null 2>&1 && echo read; ls /proc/1/fd >/dev/null 2>&1 && echo listed',
      'mount -t tmpfs x /mnt 2>/dev/null && echo mounted; mknod /tmp/sda b 8 0 2>/dev/null && echo node; chroot / true 2>/dev/null && echo chroot',
      'ls -A /work /var/run/docker.sock 2>/dev/null | tr "\\n" " "; echo; (echo x >"$HOME/x" && echo x >"$TMPDIR/x" && echo x >/tmp/x) && echo own',
      'env | cut -d= -f1 | grep -iE "flip|oracle|token|key$|word" ; exit 1',
    ].join('\n');
    const { grade } = await shell();
    const { result } = await grade(look);
    const [uid, status, net, ...rest] = result.hidden[0]?.output.trim().split('\n') ?? [];
    expect(uid).toBe('64100');
    expect(status).toMatch(/NoNewPrivs: 1 .*Seccomp: 2/);
    expect(status).toMatch(
      /CapBnd: 0000000000000000 CapEff: 0000000000000000|CapEff: 0000000000000000 CapBnd: 0000000000000000/,
    );
    expect(net?.trim()).toBe('lo');
    expect(rest.map((line) => line.trim())).toEqual(['kept', '/work: repo', 'own']);
  });

  test('the fixed environment; the image that ran is recorded', async () => {
    const { grade } = await shell();
    const { result } = await grade('echo $TZ $LC_ALL $PYTHONHASHSEED $SOURCE_DATE_EPOCH; exit 1');
    expect(result.hidden[0]?.output).toBe('UTC C.UTF-8 0 1577836800\n');
    expect(result.image).toBe(await testImage());
  });

  test('the wall clock stands still, and that is recorded; waits go on', async () => {
    const still = `const test = require('node:test');
const assert = require('node:assert');
test('still', async () => {
  await new Promise((resolve) => setTimeout(resolve, 1100));
  assert.strictEqual(Date.now(), 1577836800000);
});
test('FLIPSTREAM_CANARY', () => assert.strictEqual(1, 2));
`;
    const task = await makeTask({ ...NODE, hidden: { 'test/hidden.test.js': still } });
    onTestFinished(task.remove);
    const result = await task.run(null);
    expect(result.hidden[0]?.tests).toMatchObject([
      { id: expect.stringMatching(/still$/), outcome: 'passed' },
    ]);
    expect(result.clock).toBe('constant');
  });

  test('Python sleeps, whatever the image\u2019s libfaketime makes of it', async () => {
    const sleeps = `import time


def test_sleeps():
    before = time.monotonic()
    time.sleep(0.05)
    assert time.monotonic() - before >= 0.05
`;
    const task = await makeTask({ ...PYTEST, hidden: { 'tests/test_hidden.py': sleeps } });
    onTestFinished(task.remove);
    const result = await task.run(null);
    expect(result.hidden[0]?.tests, result.hidden[0]?.output).toMatchObject([{ outcome: 'passed' }]);
    expect(result.clock).toMatch(/constant|real/);
  });

  test('O4 nothing newer than the base is reachable: every object is the base\u2019s or its ancestors\u2019', async () => {
    const { source, run } = await shell(
      {},
      {
        suite:
          'git cat-file --batch-all-objects --batch-check="%(objectname)"; git for-each-ref; git remote; git reflog; git stash list; cat .git/objects/info/alternates; true',
      },
    );
    const result = await run(null);
    const objects = git(source, 'rev-list', '--objects', 'HEAD')
      .toString()
      .trim()
      .split('\n')
      .map((line) => line.slice(0, 40));
    const [seen = []] = [result.suite?.output.trim().split('\n')];
    expect(seen.filter((line) => /^[0-9a-f]{40}$/.test(line)).sort()).toEqual(objects.sort());
    expect(seen.filter((line) => !/^[0-9a-f]{40}$/.test(line))).toEqual([
      'cat: .git/objects/info/alternates: No such file or directory',
    ]);
  });

  test('hidden tests are in their own container only, and on no disk of the host', async () => {
    const script = 'grep -rs "secret-of-the-t[e]sts" /work /scratch /tmp | cut -d: -f1 | sort';
    const { run, diffOf } = await shell(
      {},
      { suite: `${script}; true`, hidden: [`${script}; sleep 4; exit 1`] },
    );
    const running = run(diffOf({ 'src/run.sh': 'exit 2\n' }));
    const upper = await vi.waitFor(async () => {
      const [one] = await ours();
      if (!one || (await ours()).length !== 1) throw new Error('the suite still runs');
      return (await docker.getContainer(one.Id).inspect()).GraphDriver.Data;
    }, 20_000);
    const { DockerRootDir } = await docker.info();
    const containers = (await ours()).map(({ Id }) => join(DockerRootDir, 'containers', Id));
    const places = [...Object.values(upper).flatMap((path) => path.split(':')), ...containers].filter(
      existsSync,
    );
    const found = spawnSync('grep', [
      '-rl',
      'secret-of-the-tests',
      ...places.filter((path) => /diff$|work$|containers/.test(path)),
    ]);
    expect(found.stdout.toString()).toBe('');
    const result = await running;
    expect(result.suite?.output).toBe('');
    expect(result.hidden[0]?.output).toBe('/work/repo/hidden/h.txt\n');
  });

  /** What ends it, as reason and output tell: without that limit it would end otherwise. */
  const BAD: [name: string, script: string, ended: { why: RegExp; output?: RegExp; timeout_s?: number }][] = [
    ['a hang', 'sleep 300 & sleep 300', { why: /exceeded its time$/, timeout_s: 4 }],
    ['out of memory', 'head -c 200000000 /dev/zero | tail', { why: /was ended by SIGKILL$/ }],
    ['a fork bomb', 'b() { b | b & }; b; sleep 300', { why: /^hidden 1/, timeout_s: 4 }],
    [
      'more processes than it may have',
      'i=0; while [ $i -lt 99 ]; do sleep 9 & i=$((i + 1)); done; exit 0',
      { why: /ended with [12]$/, output: /fork/i },
    ],
    [
      'a full tmpfs',
      'for place in /tmp "$HOME" /dev/shm; do cat /dev/zero >"$place/x"; done; exit 1',
      { why: /ended with 1$/, output: /^(?:.*No space left on device\n){3}$/ },
    ],
    ['a flood of output', 'head -c 300000000 /dev/zero', { why: /printed too much$/ }],
    ['killing all it can', 'kill -9 -1', { why: /^hidden 1/ }],
  ];

  test.each(BAD)(
    'O8 %s by the graded code is FAIL, eats nothing, and the right code passes after it',
    async (_, script, { why, output, timeout_s = 60 }) => {
      const { grade } = await shell({}, { timeout_s });
      const bad = await grade(script);
      expect(bad).toMatchObject({ code: 'FAIL', reason: expect.stringMatching(why) });
      if (output) expect(bad.result.hidden[0]?.output).toMatch(output);
      expect(await grade('exit 0')).toMatchObject({ code: 'PASS' });
    },
  );

  test('what one phase leaves running meets no other', async () => {
    const stays = '(setsid sh -c "while :; do echo x >/tmp/mark; sleep 0.05; done" >/dev/null 2>&1 &)';
    const look = 'sleep 0.3; ps -ef 2>/dev/null; ls /tmp; kill -9 -1 2>/dev/null; true';
    const { run } = await shell(
      {},
      {
        suite: stays,
        hidden: [`${look}; ${stays}`, 'ls /proc | grep -c "^[0-9]"; kill -9 -1; sleep 0.2; ls /tmp'],
      },
    );
    const { hidden } = await run(null);
    expect(hidden[0]?.output).not.toContain('mark');
    // The second is another user: it sees the first's leftovers, and cannot end or change them.
    expect(hidden[1]?.exit === 0 || hidden[1]?.exit === 137).toBe(true);
  });

  test('hidden files take their places whatever the diff put there', async () => {
    const { grade, diffOf } = await shell(
      { hidden: { 'src/deep/er/h.sh': 'grep -q right src/run.sh\n' } },
      { hidden: ['sh src/deep/er/h.sh'] },
    );
    for (const planted of ['src/deep', 'src/deep/er', 'src/deep/er/h.sh', 'src/deep/er/h.sh/x']) {
      const change: Files = { [planted]: 'exit 0\n' };
      expect(
        outcomeOf(
          await (
            await shell(
              { hidden: { 'src/deep/er/h.sh': 'grep -q right src/run.sh\n' } },
              { hidden: ['sh src/deep/er/h.sh'] },
            )
          ).run(diffOf(change)),
        ),
        planted,
      ).toMatchObject({ code: 'FAIL', reason: 'hidden 1 ended with 1' });
    }
    expect(await grade('# right')).toMatchObject({ code: 'PASS' });
  });

  test('a diff that fills the memory, or does not apply, is FAIL and not the machine\u2019s fault', async () => {
    const { run, diffOf } = await shell();
    const bomb = await run(diffOf({ 'src/big': Buffer.alloc(150 * 2 ** 20) }));
    expect(outcomeOf(bomb)).toMatchObject({
      code: 'FAIL',
      reason: expect.stringMatching(/diff (does not apply|cannot be put)/),
    });
    const stale = Buffer.from(diffOf({ 'src/run.sh': 'exit 0\n' }).toString().replace('-exit 1', '-exit 3'));
    expect(outcomeOf(await run(stale))).toMatchObject({
      code: 'FAIL',
      reason: expect.stringContaining('does not apply'),
    });
  });

  test('writable paths are writable, and nothing else of the tree', async () => {
    const { run } = await shell(
      {},
      {
        writable_paths: ['build', 'src/*.tmp'],
        suite: 'echo x >build/x && echo x >build/y; (echo x >src/y) 2>/dev/null; ls build src',
      },
    );
    expect((await run(null)).suite?.output).toBe('build:\nx\ny\n\nsrc:\nrun.sh\n');
  });

  test('lines of a fix are found in an image', async () => {
    const image = (await testImage()) ?? '';
    const found = await searchImage(image, ['PRETTY_NAME="Debian', 'nobody wrote this line anywhere ', ' ']);
    expect(found).toContainEqual({ path: '/usr/lib/os-release', lines: 1 });
    expect(await searchImage(image, ['nobody wrote this l\u00efne'])).toEqual([]);
  });

  test('out of process: the code cannot read the tests\u2019 tree, touch their processes or keep its port', async () => {
    const spy = `import os, subprocess, sys
def look():
    for path in ("/work/tests", "/scratch/tests-0", "/work/in"):
        try:
            print("listed", path, os.listdir(path))
        except OSError as error:
            print(type(error).__name__, path)
    for pid in [p for p in os.listdir("/proc") if p.isdigit()]:
        try:
            if os.stat("/proc/" + pid).st_uid != os.getuid():
                os.kill(int(pid), 9)
                print("killed", pid)
        except OSError:
            pass
    print(subprocess.run("grep -rs 'secret-of-the-t[e]sts' /work /scratch /tmp /proc/[0-9]*/environ", shell=True, capture_output=True).stdout)
    sys.stdout.flush()
`;
    const task = await makeTask({
      ...HTTP,
      hidden: PYTEST.hidden,
      task: { ...HTTP.task, program: ['python3', '-c', `${spy}\nlook()`], hidden: ['tests'] },
    });
    onTestFinished(task.remove);
    const { hidden } = await task.run(null);
    expect(hidden[0]?.output).toContain(
      "PermissionError /work/tests\nPermissionError /scratch/tests-0\nFileNotFoundError /work/in\nb''\n",
    );
  });
});
