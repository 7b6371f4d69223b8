import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { layout } from '../../producers/home.ts';
import { jsonl, transcript } from '../../producers/import/testing.ts';
import { type Sandbox, sandbox } from '../testing.ts';
import { landSample } from '../testing-warehouse.ts';
import { SESSION } from '../verify/testing.ts';

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.remove());

test('import ends with 0, with 3 when something was refused, and says what and why', async () => {
  mkdirSync(join(box.root, 'files'));
  writeFileSync(join(box.root, 'files', 'a.jsonl'), jsonl(transcript()));
  const good = await box.flipstream(['import', 'files', '--json']);
  expect(good).toMatchObject({ code: 0 });
  writeFileSync(join(box.root, 'files', 'agent-a1.meta.json'), '{"agentType":"Explore"}');
  const beside = await box.flipstream(['import', 'files']);
  expect(beside.code).toBe(0);
  expect(beside.out).toMatch(/claude-code: what a subagent was begun as +1/);
  expect(good.json()).toMatchObject({
    formats: { 'claude-code': { messages: 2, tool_calls: 1, failures: 1, refused: 0 } },
  });
  writeFileSync(join(box.root, 'files', 'b.jsonl'), `${jsonl(transcript('s2'))}no json`);
  const bad = await box.flipstream(['import', 'files']);
  expect(bad.code).toBe(3);
  expect(bad.out).toMatch(/claude-code .*\n/);
  expect(bad.out).toContain('b.jsonl, line 5: a last line that is cut off');
});

test('import of nothing but paths that are not there is a usage error, and makes nothing', async () => {
  const { code, err } = await box.flipstream(['import', 'nowhere', 'neither']);
  expect(code).toBe(2);
  expect(err.trim().split('\n')).toEqual([
    expect.stringMatching(/There is nothing at \S+nowhere, \S+neither: name files or folders/),
  ]);
  expect(existsSync(join(box.root, 'home'))).toBe(false);
  mkdirSync(join(box.root, 'files'));
  writeFileSync(join(box.root, 'files', 'a.jsonl'), jsonl(transcript()));
  expect((await box.flipstream(['import', 'files', 'nowhere'])).code).toBe(3);
});

test('export prints a session, writes it to a new file, and knows its formats', async () => {
  await landSample(layout(join(box.root, 'home')));
  const atif = await box.flipstream(['export', 'atif', SESSION]);
  expect(atif).toMatchObject({ code: 0, err: '' });
  expect(atif.json()).toMatchObject({ schema_version: 'ATIF-v1.7', session_id: SESSION });
  expect((await box.flipstream(['export', 'openai', SESSION, '--out', 'a.jsonl'])).code).toBe(0);
  expect(await box.flipstream(['export', 'openai', SESSION, '--out', 'a.jsonl'])).toMatchObject({ code: 2 });
  expect((await box.flipstream(['export', 'claude-jsonl', SESSION])).out).toContain('"sessionId"');
  expect((await box.flipstream(['export', 'xml', SESSION])).err).toContain('atif, openai, claude-jsonl');
});
