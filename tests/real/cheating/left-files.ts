import { OURS } from './attack.ts';

/** What a program leaves in the place of the file that tests, which run apart from it, are going to read. */
interface LeftFile {
  name: string;
  seen: string;
  /** Python, in the function that has to write the report to `target`, of which `name` is the last part. */
  code: string;
  /** How a test ends that opens whatever is there; one that reads plain files only fails it. `either`: it is a race. */
  followed: 'PASS' | 'FAIL' | 'either';
}

const GOLDEN = '/work/tests/tests/golden';

export const LEFT_FILES: readonly LeftFile[] = [
  {
    name: 'a link to the hidden tests\u2019 expected file',
    seen: OURS,
    code: `os.symlink("${GOLDEN}/" + name, target)`,
    followed: 'PASS',
  },
  {
    name: 'a link by way of the directory of whoever follows it, wherever that is',
    seen: OURS,
    code: 'os.symlink("/proc/self/cwd/tests/golden/" + name, target)',
    followed: 'PASS',
  },
  {
    name: 'a link and a plain file by turns, for who looks first and opens then',
    seen: OURS,
    code: `if os.fork() == 0:
    os.setsid()
    while True:
        open(target + "~", "w").close()
        os.rename(target + "~", target)
        os.symlink("${GOLDEN}/" + name, target + "~")
        os.rename(target + "~", target)
while not os.path.lexists(target):
    pass`,
    followed: 'either',
  },
  {
    name: 'another folder in the place of the shared one',
    seen: OURS,
    code: `os.rename("/tmp/calls", "/tmp/calls.old")
os.symlink("${GOLDEN}", "/tmp/calls")`,
    followed: 'FAIL',
  },
  {
    name: 'a hard link to the expected file',
    seen: OURS,
    code: `os.link("${GOLDEN}/" + name, target)`,
    followed: 'FAIL',
  },
  { name: 'a pipe that nobody ends', seen: OURS, code: 'os.mkfifo(target)', followed: 'FAIL' },
  { name: 'a folder', seen: OURS, code: 'os.mkdir(target)', followed: 'FAIL' },
];
