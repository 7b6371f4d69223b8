import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { oracleLayout } from '../../oracle/home.ts';
import { type Home, layout } from '../../producers/home.ts';
import { makeFolder } from '../../schemas/make-folder.ts';
import { type Sandbox, sandbox } from '../testing.ts';
import { checkDocker } from './docker.ts';

let box: Sandbox;
let home: Home;
let socket: string;
beforeEach(() => {
  box = sandbox();
  home = layout(join(box.root, 'home'));
  socket = join(box.root, 'docker.sock');
});
afterEach(() => box.remove());

const oracleHome = () => oracleLayout(join(box.root, 'oracle'));
const check = (oracleUrl?: string) => checkDocker({ home, oracleHome: oracleHome(), oracleUrl }, socket);
const keyFor = async (runner: string) =>
  expect((await box.flipstream(['oracle', 'key', 'init', '--runner', runner])).code).toBe(0);

test('a socket that cannot be opened is no risk, whatever the oracle is', async () => {
  expect(check()).toMatchObject({ state: 'ok' });
  await keyFor('container');
  expect(check('unix:/run/oracle.sock')).toMatchObject({ state: 'ok' });
});

test('where nothing keeps the agent from the oracle anyway, it warns', async () => {
  writeFileSync(socket, '');
  expect(check()).toMatchObject({ state: 'warning' });
  await keyFor('process');
  expect(check('http://127.0.0.1:7000')).toMatchObject({ state: 'warning' });
});

test('containers that a root of the agent\u2019s could look into: a problem, and doctor fails', async () => {
  writeFileSync(socket, '');
  await keyFor('container');
  expect(check('http://127.0.0.1:7000')).toMatchObject({
    state: 'problem',
    message: expect.stringContaining(join(box.root, 'oracle')),
  });
  // the whole command looks where the oracle's settings say that the engine is
  const elsewhere = join(box.root, 'rootless.sock');
  writeFileSync(elsewhere, '');
  writeFileSync(oracleHome().settings, JSON.stringify({ socket: elsewhere }));
  const ran = await box.flipstream(['doctor', '--json']);
  expect(ran.code).toBe(1);
  expect(ran.json()).toMatchObject({
    findings: expect.arrayContaining([
      expect.objectContaining({
        check: 'docker',
        state: 'problem',
        message: expect.stringContaining(elsewhere),
      }),
    ]),
  });
});

test('and so are other users, which root can become', () => {
  writeFileSync(socket, '');
  expect(check('unix:/run/flipstream-oracle/oracle.sock')).toMatchObject({ state: 'problem' });
  expect(check('https://oracle.example:7340')).toMatchObject({ state: 'warning' });
  const dropped = join(home.spool, 'new');
  makeFolder(dropped);
  chmodSync(dropped, 0o3733);
  expect(check('https://oracle.example:7340')).toMatchObject({ state: 'problem' });
});
