import { BOOK, OURS, TRACKERS, TRIED } from './attack.ts';

/** What an agent's host can do beside sending a diff. None of it needs a container: each is tried where it is decided. */
export interface HostAttack {
  name: string;
  seen: string;
  /** What comes of it. */
  happens: string;
  /** File and name of the test that does it. */
  tried: readonly [file: string, test: string][];
}

const DESK = 'oracle/service/desk.test.ts';
const ANSWER_TIME = 'oracle/service/answer-time.test.ts';
const BUDGET = 'oracle/service/budget.test.ts';
const BAD = 'tests/bad-verdicts.test.ts';
const EDITS = 'tests/agent-edits.test.ts';

export const HOST: readonly HostAttack[] = [
  {
    name: 'it asks for another task, or one that its token is not for',
    seen: OURS,
    happens: 'NO_TASK, and nothing is signed',
    tried: [[DESK, 'another task, base commit, root commit or diff hash is NO_TASK, and nothing is signed']],
  },
  {
    name: 'it asks on another base commit, where the fix is easier or there already',
    seen: OURS,
    happens: 'NO_TASK; a session that began there is told so, and is no flip',
    tried: [
      [DESK, 'another task, base commit, root commit or diff hash is NO_TASK, and nothing is signed'],
      [BAD, 'for another base commit'],
      ['producers/collector/gate.test.ts', 'HEAD not on the base: never graded, recorded'],
    ],
  },
  {
    name: 'it makes up session ids, for more attempts',
    seen: OURS,
    happens: 'the oracle counts by host and day',
    tried: [[BUDGET, 'new session ids do not get a host beyond the day\\u2019s cap; the next day does']],
  },
  {
    name: 'it denies its attempts: other numbers, edited state, a collector that is started anew',
    seen: OURS,
    happens: 'the oracle counts, and beyond the budget signs nothing',
    tried: [
      [EDITS, 'the collector\\u2019s count of attempts set back'],
      [BUDGET, 'beyond max_attempts of a session and task the answer is NO_TASK and nothing is signed'],
      ['producers/collector/gate.test.ts', 'the budget bounds the attempts, and a restart does not renew it'],
    ],
  },
  {
    name: 'it races: many grades at once, two gates for one Stop',
    seen: BOOK,
    happens: 'attempts are numbered one after another; the second gate is given the first\u2019s answer',
    tried: [
      [BUDGET, 'many requests at once do not go beyond the budget'],
      [
        'producers/collector/gate.test.ts',
        'one grade in flight a session: a second gate gets the first’s answer',
      ],
    ],
  },
  {
    name: 'it uses a request id again for another diff',
    seen: OURS,
    happens: 'NO_TASK',
    tried: [[DESK, 'a request id that asks something else is refused']],
  },
  {
    name: 'it replays a PASS under another session',
    seen: BOOK,
    happens: 'rejected:session, no flip, the session is not usable',
    tried: [[BAD, 'replayed under another session']],
  },
  {
    name: 'it moves a PASS to another task, diff, head or chain',
    seen: BOOK,
    happens: 'rejected by what differs, no flip',
    tried: [
      [BAD, 'for another task'],
      [BAD, 'for another diff'],
      [BAD, 'for another head'],
      [BAD, 'for another chain'],
    ],
  },
  {
    name: 'it signs a PASS with a key of its own',
    seen: BOOK,
    happens: 'rejected:unknown_key, or rejected:bad_signature under the real key\u2019s id',
    tried: [
      [BAD, 'forged: under a key id that the ring does not hold'],
      [BAD, 'forged: signed by a key of nobody, under the real key id'],
    ],
  },
  {
    name: 'it signs with the process runner\u2019s key, which it can read, that it came from a container or another host',
    seen: TRIED,
    happens: 'rejected: the ring allows that key neither',
    tried: [
      [BAD, 'claims a runner that its key may not'],
      [BAD, 'claims a placement that its key may not'],
    ],
  },
  {
    name: 'it has a diff graded that no Stop asked about',
    seen: OURS,
    happens: 'the verdict is unsolicited, and the session not usable',
    tried: [[BAD, 'that nobody asked for']],
  },
  {
    name: 'it claims a PASS that nobody signed',
    seen: TRACKERS,
    happens: 'the session is unconfirmed, and not usable',
    tried: [[BAD, 'a claim without a verdict']],
  },
  {
    name: 'it edits, removes or adds events afterwards',
    seen: BOOK,
    happens: 'what the verdict attests no longer hashes to its head: verify says altered',
    tried: [
      [
        'tests/real/verify.test.ts',
        'every event removed in turn is missed; an attested one also where manifest and links were made to fit',
      ],
      ['tests/real/verify.test.ts', 'one changed byte all over every verdict is found'],
    ],
  },
  {
    name: 'it begins in a tree that already holds the fix',
    seen: TRACKERS,
    happens: 'the session is inherited, and never a flip',
    tried: [
      [
        'producers/session-start.test.ts',
        'inherited: a tree that is not the base, by edits, new files or staging; not by ignored ones',
      ],
      [BAD, 'in a session that began on a changed tree'],
    ],
  },
  {
    name: 'it reads the fix out of newer objects in its clone',
    seen: TRACKERS,
    happens: 'task start makes a clone without them; another one is history_visible, and not usable',
    tried: [
      [
        'producers/task-start.test.ts',
        'O4 the clone holds the base and its ancestors, and nothing newer to read the fix from',
      ],
      ['streams/join/marks.test.ts', 'O4: a clone that held newer objects is marked and left out'],
    ],
  },
  {
    name: 'it switches its hooks off from the repository',
    seen: OURS,
    happens: 'a session that began with a task is captured and held all the same',
    tried: [
      [
        'producers/silence.test.ts',
        'a session that began with a task cannot be silenced from its own repository',
      ],
    ],
  },
  {
    name: 'it removes or edits what the gate keeps of the session between two stops',
    seen: OURS,
    happens:
      'the collector knows the task and asks about it all the same; with its own memory edited nothing is asked, so there is no PASS',
    tried: [
      [EDITS, 'what the gate keeps of the session removed'],
      [EDITS, 'what the gate keeps edited to another task and base'],
      [EDITS, 'what the gate keeps edited to no task'],
      [EDITS, 'the collector made to believe that it flipped'],
    ],
  },
  {
    name: 'it removes the hooks from its own settings',
    seen: OURS,
    happens: 'possible for an agent of the same user; nothing is asked, so there is no verdict and no flip',
    tried: [[EDITS, 'the hooks removed from the settings']],
  },
  {
    name: 'it plants a configuration for the next session: another task, capture off',
    seen: OURS,
    happens:
      'what task start recorded outside of the clone decides; a task of a file is project_task, and not usable',
    tried: [
      [
        'producers/session-start.test.ts',
        'dispatch is what task start recorded outside, whatever the project file says',
      ],
      ['streams/join/marks.test.ts', 'a task that the project chose is marked and left out'],
    ],
  },
  {
    name: 'it copies a dispatched clone\u2019s configuration to a clone of its own',
    seen: OURS,
    happens: 'no dispatch',
    tried: [['producers/session-start.test.ts', 'a copy, or another clone put in its place, is no dispatch']],
  },
  {
    name: 'it plants filters, drivers and hooks of git, to be run or to bend the diff',
    seen: TRIED,
    happens: 'nothing of the repository runs while its diff is made',
    tried: [['producers/gate/diff-runs-nothing.test.ts', 'nothing of the repository runs: %s']],
  },
  {
    name: 'it fetches verdicts that another host asked for',
    seen: OURS,
    happens: 'it is given none',
    tried: [
      [
        'tests/verdict-feed.test.ts',
        'a verdict reaches the home of the host that asked, unchanged, and no other',
      ],
    ],
  },
  {
    name: 'it times the answers',
    seen: TRACKERS,
    happens: 'they leave on bucket edges, every FAIL of usual length at one moment',
    tried: [
      [DESK, 'O7 answers and verdicts leave on bucket edges only, whenever the run ended'],
      [ANSWER_TIME, 'O7 no FAIL tells by its time why: refused at once, hidden tests failed, suite failed'],
    ],
  },
  {
    name: 'it sends code that sleeps by what it reads in the hidden tests, and times the FAIL',
    seen: OURS,
    happens:
      '**not caught**, where tests run in the code\u2019s process; apart from it the code sees only what it is asked. The time says how often the task\u2019s usual moment doubled, a few bits a grade, as many grades as the budget allows; of a task with `constant_time` it says nothing ([what time tells](../guides/trust.md#what-time-tells))',
    tried: [
      [
        ANSWER_TIME,
        'O7 code that sleeps by what it reads tells how often the floor doubles, and nothing finer',
      ],
      [
        ANSWER_TIME,
        'O7 with constant_time nothing tells a fast answer from a slow one: not a hang, and not a PASS',
      ],
      [BUDGET, 'beyond max_attempts of a session and task the answer is NO_TASK and nothing is signed'],
    ],
  },
  {
    name: 'it sends code that shows a hidden test in the titles of its processes, and reads them as another user of the same machine',
    seen: OURS,
    happens:
      '**not caught**, where tests run in the code\u2019s process on a machine that agents use; apart from it the code has nothing to show, and on a host of its own nobody sees it ([what closes it](../guides/many-users.md#what-this-does-not-do))',
    tried: [
      [
        'tests/real/cheating/process-titles.long.test.ts',
        'code that has read a hidden test shows it to every user of the machine; apart from it there is nothing to show',
      ],
    ],
  },
];
