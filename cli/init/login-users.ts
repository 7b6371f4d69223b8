import { existsSync, readFileSync } from 'node:fs';

const NO_LOGIN = /(nologin|false|sync|halt|shutdown)$/;
/** Below it are the system's own accounts; 65534 is nobody. */
const FIRST_PERSON = 1000;
const NOBODY = 65_534;

/** People who can log in to this machine, by /etc/passwd; empty where there is none. */
export function loginUsers(passwd = '/etc/passwd'): string[] {
  if (!existsSync(passwd)) return [];
  return readFileSync(passwd, 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter(
      ([, , uid, , , , shell]) =>
        Number(uid) >= FIRST_PERSON && Number(uid) < NOBODY && !NO_LOGIN.test(shell ?? ''),
    )
    .map(([name = '']) => name);
}
