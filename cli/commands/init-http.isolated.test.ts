/** `init --transport http` on a machine with several people: a loopback port is open to all of them. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type * as loginUsers from '../init/login-users.ts';
import { type Sandbox, sandbox } from '../testing.ts';

const people = vi.hoisted(() => ({ names: [] as string[] }));
vi.mock('../init/login-users.ts', () => ({
  loginUsers: (() => people.names) satisfies typeof loginUsers.loginUsers,
}));

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.remove());

const init = (...flags: string[]) =>
  box.flipstream(['init', 'claude-code', '--yes', '--transport', 'http', ...flags]);
const settings = () => join(box.root, 'claude', 'settings.json');

test('where several people can log in http is refused before anything is made, unless it is forced', async () => {
  people.names = ['ada', 'grace'];
  const refused = await init('--json');
  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.err).toContain('"code":"http_unsafe"');
  expect(refused.err).toContain('2 users can log in to this machine');
  expect(existsSync(settings())).toBe(false);
  expect(existsSync(join(box.root, 'home'))).toBe(false);
  expect(await init('--force')).toMatchObject({ code: 0 });
  expect(existsSync(settings())).toBe(true);
});

test.each([[['ada']], [[]]])('where %j can log in it is not', async (names) => {
  people.names = names;
  expect(await init()).toMatchObject({ code: 0 });
});

test('people are who has a shell, and an id that is neither the system’s nor nobody’s', async () => {
  const { loginUsers: real } = await vi.importActual<typeof loginUsers>('../init/login-users.ts');
  const passwd = join(box.root, 'passwd');
  writeFileSync(
    passwd,
    [
      'root:x:0:0:root:/root:/bin/bash',
      'daemon:x:999:999::/:/bin/sh',
      'ada:x:1000:1000:Ada:/home/ada:/bin/bash',
      'builder:x:1001:1001::/home/builder:/usr/sbin/nologin',
      'robot:x:1002:1002::/home/robot:/bin/false',
      'grace:x:1003:1003::/home/grace:/usr/bin/zsh',
      'nobody:x:65534:65534:nobody:/:/bin/sh',
      '',
    ].join('\n'),
  );
  expect(real(passwd)).toEqual(['ada', 'grace']);
  expect(real(join(box.root, 'nowhere'))).toEqual([]);
});
