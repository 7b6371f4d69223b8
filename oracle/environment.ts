import { delimiter, dirname } from 'node:path';

/** The one thing the oracle takes from its environment besides its home: where programs are found. */
const inherited = process.env.PATH || '/usr/local/bin:/usr/bin:/bin';

/** PATH for git. */
export const GIT_PATH = inherited;

/** PATH for graded code: the Node that runs the oracle comes first, so that `node` means one version everywhere. */
export const RUN_PATH = [dirname(process.execPath), inherited].join(delimiter);
