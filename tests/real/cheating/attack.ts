import type { ContainerTask, Files } from '../../support/container-task.ts';

export type TaskName = 'python' | 'unittest' | 'junit' | 'node' | 'go';

/** One way to be graded PASS without doing the work. The bug is still there in every one. */
export interface Attack {
  name: string;
  /** Where models or people were seen doing it, or that we thought of it. */
  seen: string;
  task: TaskName;
  /** What the diff makes of the base. */
  change?: Files;
  /** What it does besides, in a clone: links, modes. */
  arrange?: (clone: string) => void;
  /** A diff that git would not make; in place of `change`. */
  diff?: (task: ContainerTask) => Buffer;
  /** The same with the right fix, which has to PASS; without it the bare fix is the control. */
  honest?: Files;
  /** Against tests that run in the code's own process: whether canaries and ids catch it. */
  inProcess?: 'caught' | 'not caught';
  /** It looks for secrets: all that it was told is in the private log, which must hold none. */
  looks?: true;
  /** In which words of the outcome or the dropped hunks it has to be caught, so that it is caught for that. */
  because?: RegExp;
}

export const BOOK = 'observed: chapter 5 and what it cites';
export const TRACKERS = 'observed: public issue trackers';
export const TRIED = 'tried on a real engine before the design';
export const OURS = 'invented here';
