import { APPLY_CPU_S } from '../diff/apply.ts';
import { DIFF, HIDDEN, INPUT, REPO, scratchOf, TESTS } from './layout.ts';

export interface LoadOptions {
  baseCommit: string;
  withDiff: boolean;
  /** Paths of the hidden files; none in the suite's container. */
  hidden: readonly string[];
  /** Whether the hidden tests get a clean tree of their own, which the code under test cannot read. */
  apart: boolean;
  /** Globs in the tree that every user may write. */
  writable: readonly string[];
  /** Names of phases, each of which gets a home; of programs, whose homes are nobody's secret. */
  homes: readonly string[];
  programHomes: readonly string[];
}

/** Exit codes of the script: anything else is a fault of the machine or the image. */
export const DIFF_REFUSED = 90;

/** Printed when what is not the diff's doing has been done. */
const TREE_READY = 'tree ready';

/** The path of libfaketime in the image, or nothing; then TREE_READY; then git's raw list of what the diff changes. */
export function parseLoaded(stdout: string): { faketime: string | null; ready: boolean; raw: string } {
  const [faketime = '', ready = '', ...raw] = stdout.split('\n');
  return { faketime: faketime || null, ready: ready === TREE_READY, raw: raw.join('\n') };
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The script that root runs in a fresh container before anything else: unpacks its stdin, checks the base commit out,
 * applies the diff, puts the hidden files in place. The whole tree belongs to root and is read-only to all others.
 */
export function loadScript(options: LoadOptions): string {
  const { baseCommit, withDiff, hidden, apart, writable, homes, programHomes } = options;
  return [
    'set -eu; umask 022; cd /work; tar -xof -',
    `export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=${INPUT} GIT_NO_REPLACE_OBJECTS=1`,
    'for library in /usr/lib/*/faketime/libfaketime.so.1 /usr/lib/faketime/libfaketime.so.1; do',
    '  if [ -f "$library" ]; then printf %s "$library"; break; fi',
    `done; echo; cd ${REPO}; git read-tree ${quote(baseCommit)}; git checkout-index --all --quiet`,
    apart ? `mkdir -m 750 ${TESTS}; git checkout-index --all --quiet --prefix=${TESTS}/` : '',
    ...homes.map((name) => makeHome(name, apart ? 770 : 777)),
    ...programHomes.map((name) => makeHome(name, 777)),
    `echo ${TREE_READY}`,
    ...(withDiff ? APPLY : []),
    ...(hidden.length > 0 ? [PLACE] : []),
    ...hidden.map((path) => `place ${apart ? TESTS : REPO} ${quote(path)}`),
    ...writable.map((glob) => `for path in ${glob}; do ${OPEN_TO_ALL}; done`),
    `rm -rf ${INPUT}`,
  ]
    .filter((line) => line !== '')
    .join('\n');
}

const makeHome = (name: string, mode: number) =>
  `mkdir -m ${mode} ${['', '/home', '/tmp'].map((directory) => `${scratchOf(name)}${directory}`).join(' ')}`;

/** Not for a glob that matches nothing, which the shell leaves as it is. */
const OPEN_TO_ALL =
  'case $path in *[*?]*) [ -e "$path" ] || continue;; esac; mkdir -p "$path"; chmod -R a+rwX "$path"';

/** First to an index of its own, where git tells what changed and how, and only then to the files. */
const APPLY = [
  'apply() {',
  `  ( ulimit -t ${APPLY_CPU_S}; exec git -c core.compression=1 apply --whitespace=nowarn "$@" ${DIFF} ) || {`,
  `    [ $? -lt 128 ] || echo 'it takes git too long' >&2; exit ${DIFF_REFUSED}; }; }`,
  `export GIT_INDEX_FILE=${INPUT}/index; git read-tree HEAD`,
  'apply --cached --check; apply --cached',
  'git diff-index --cached --raw -z --no-renames HEAD',
  'unset GIT_INDEX_FILE; apply --check; apply',
];

/** Over whatever the diff has put there. */
const PLACE = `place() {
  directory=$1; rest=$2
  while [ "$rest" != "\${rest#*/}" ]; do
    directory=$directory/\${rest%%/*}; rest=\${rest#*/}
    if [ -L "$directory" ] || [ ! -d "$directory" ]; then rm -rf -- "$directory"; mkdir -- "$directory"; fi
  done
  rm -rf -- "$1/$2"; mv -- "${HIDDEN}/$2" "$1/$2"
}`;
