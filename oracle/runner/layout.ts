/** Where things lie in a container, and who may do what. All of it is tmpfs: nothing of a run reaches the host's disk. */

/** Loads files, and owns them; without capabilities it can do nothing else that is special. */
export const ROOT = 0;

/** Group of the tests; files of the tests that the code under test must not read belong to it. */
export const TESTS_GROUP = 64_100;

/** Hidden phase n has this user and n; the suite has the first. No user meets another's processes. */
export const testsUser = (at: number) => 64_100 + at;

/** User of the code under test, where that runs apart from the tests. */
export const codeUser = (at: number) => 64_400 + at;

export const REPO = '/work/repo';
/** A clean tree of the base with the hidden tests, where these only talk to the code from outside. */
export const TESTS = '/work/tests';
export const LIBRARY = '/work/lib';
/** What root needs to load; gone before anything of the task runs. */
export const INPUT = '/work/in';
export const DIFF = `${INPUT}/diff`;
export const HIDDEN = `${INPUT}/hidden`;
/** Home, temporary directory and report of one phase or program. */
export const scratchOf = (name: string) => `/scratch/${name}`;
