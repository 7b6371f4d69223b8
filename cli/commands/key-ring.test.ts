/** The pin: which key ring counts is said once, and a ring that changed since is refused by whatever would trust it. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { type Home, layout } from '../../producers/home.ts';
import { readSettings } from '../../producers/settings.ts';
import { KeyRing } from '../../schemas/signature.ts';
import { writeHomeConfig } from '../init/home-config.ts';
import { keyRingHash } from '../key-ring.ts';
import { type Sandbox, sandbox } from '../testing.ts';

let box: Sandbox;
let home: Home;
beforeEach(async () => {
  box = sandbox();
  home = layout(join(box.root, 'home'));
  await box.flipstream(['init', 'claude-code', '--yes']);
});
afterEach(() => box.remove());

const ring = () => KeyRing.parse(JSON.parse(readFileSync(home.keyRing, 'utf8')));
const pin = () => readSettings(home).key_ring_sha256;
const put = (changed: KeyRing) => writeFileSync(home.keyRing, JSON.stringify(changed));
const accept = (...more: string[]) => box.flipstream(['key-ring', 'accept', ...more]);

/** A ring of an oracle elsewhere, as its operator would send it. */
async function ofAnother(): Promise<string> {
  const at = ['--oracle-home', join(box.root, 'another')];
  const { out } = await box.flipstream(['oracle', 'key', 'init', '--runner', 'container', ...at]);
  const file = join(box.root, 'ring.json');
  writeFileSync(file, out);
  return file;
}

const Findings = z.object({ findings: z.array(z.object({ check: z.string(), state: z.string() })) });
async function doctor(): Promise<string | undefined> {
  const { findings } = Findings.parse((await box.flipstream(['doctor', '--json'])).json());
  return findings.find(({ check }) => check === 'key-ring')?.state;
}

test('init pins the ring that it makes; how the file is laid out is no change', async () => {
  expect(pin()).toBe(keyRingHash(ring()));
  put(ring());
  expect(await doctor()).toBe('ok');
});

test('with a key that nobody accepted nothing starts that would trust it, until somebody does', async () => {
  const another = KeyRing.parse(JSON.parse(readFileSync(await ofAnother(), 'utf8')));
  put({ v: 1, keys: [...ring().keys, ...another.keys] });
  for (const command of [['up'], ['replay', 'fresh', '--from', 'log'], ['session', 'export', 'x']]) {
    const ran = await box.flipstream(command);
    expect(ran, command.join(' ')).toMatchObject({ code: 2, out: '' });
    expect(ran.err.trim().split('\n')).toEqual([
      expect.stringMatching(/keyring\.json is not the key ring that was accepted .* key-ring accept\.$/),
    ]);
  }
  expect(await doctor()).toBe('problem');
  // nor is it slipped in beside keys that are accepted
  expect((await accept('ring.json', '--yes', '--json')).err).toContain('"code":"key_ring_changed"');

  expect(await accept('--yes')).toMatchObject({
    code: 0,
    err: expect.stringContaining(`new     ${another.keys[0]?.key_id}: container on same_host\n`),
  });
  expect(await doctor()).toBe('ok');
  expect((await accept('--yes')).err).toMatch(/^kept .*\nkept .*\nSHA-256/);
});

test('a file\u2019s keys come beside those that are here, shown first, and only with a yes', async () => {
  const file = await ofAnother();
  const before = readFileSync(home.keyRing, 'utf8');
  expect(await accept(file)).toMatchObject({ code: 2, err: expect.stringContaining('--yes') });
  expect(await box.flipstream(['key-ring', 'accept', file], 'n\n')).toMatchObject({ code: 0, out: '' });
  expect(readFileSync(home.keyRing, 'utf8')).toBe(before);

  const ran = await box.flipstream(['key-ring', 'accept', file], 'y\n');
  expect(ran).toMatchObject({ code: 0, out: expect.stringContaining(keyRingHash(ring())) });
  expect(ran.err).toMatch(
    /^kept {4}process-.*: process on same_host\nnew {5}container-.*\nSHA-256 of .*ring/,
  );
  expect(ring().keys.map(({ runners }) => runners)).toEqual([['process'], ['container']]);
  expect(pin()).toBe(keyRingHash(ring()));
  expect(statSync(home.keyRing).mode & 0o077).toBe(0);
  expect(readSettings(home).oracle).toBeDefined();
});

test('a key that is rotated and taken back is brought over by the same step; a ring at odds with itself is not', async () => {
  const file = join(box.root, 'ring.json');
  const old = ring().keys[0]?.key_id ?? '';
  await box.flipstream(['oracle', 'key', 'rotate']);
  expect(await doctor()).toBe('problem');
  await box.flipstream(['oracle', 'key', 'revoke', old, '--after', 'none']);
  const exported = await box.flipstream(['oracle', 'key', 'export']);
  writeFileSync(file, exported.out);
  const ran = await accept(file, '--yes', '--json');
  expect(ran.json()).toMatchObject({
    sha256: keyRingHash(ring()),
    keys: [
      { key_id: old, is: 'changed', says: expect.stringContaining('nothing counts (was: process on') },
      { is: 'new' },
    ],
  });
  expect(exported.err).toContain(keyRingHash(ring()));
  expect(await doctor()).toBe('ok');

  const [one, two] = ring().keys;
  if (!one || !two) throw new Error('no keys');
  writeFileSync(file, JSON.stringify({ v: 1, keys: [one, { ...two, key_id: one.key_id }] }));
  expect(await accept(file, '--yes')).toMatchObject({ code: 2, err: expect.stringContaining('twice') });
});

test('a home of an earlier release goes on without a pin, is told so, and has one after the next init', async () => {
  const { key_ring_sha256: _, ...without } = readSettings(home);
  writeHomeConfig(home, without);
  expect(await doctor()).toBe('warning');
  expect((await box.flipstream(['init', 'claude-code', '--yes'])).out).toContain('pin of the key ring');
  expect(pin()).toBe(keyRingHash(ring()));
});

test('of a file that is no JSON nothing is shown: it may be a secret', async () => {
  const file = join(box.root, 'secret.key');
  writeFileSync(file, 'SECRETKEY\n');
  const ran = await accept(file);
  expect(ran).toMatchObject({
    code: 2,
    err: expect.stringContaining('it stops being JSON at line 1, column 1.'),
  });
  expect(ran.err.replaceAll(file, '')).not.toMatch(/SECRET/);

  writeFileSync(home.config, '{ "oracle": { "token": fso_SECRET } }');
  const status = await box.flipstream(['status']);
  expect(status).toMatchObject({
    code: 2,
    err: expect.stringContaining('it stops being JSON at line 1, column'),
  });
  expect(status.err).not.toMatch(/fso|SECRET/);
});

test('where there is none, that is what is said, once, and what makes one', async () => {
  rmSync(home.keyRing);
  const ran = await accept();
  expect(ran).toMatchObject({ code: 2, err: expect.stringContaining('There is no key ring at') });
  expect(ran.err.split(home.keyRing)).toHaveLength(2);
  expect(ran.err).toMatch(/flipstream init <harness> makes one/);
  expect(ran.err).not.toMatch(/ENOENT/);
});
