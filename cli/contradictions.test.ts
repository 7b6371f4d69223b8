import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Sandbox, sandbox } from './testing.ts';

let box: Sandbox;
beforeAll(() => {
  box = sandbox();
});
afterAll(() => box.remove());

test.each([
  ['init claude-code --undo --rotate', '--undo', '--rotate'],
  ['init claude-code --undo --transport http', '--undo', '--transport'],
  ['init claude-code --undo --force', '--undo', '--force'],
  ['init codex --undo --oracle http://oracle:1', '--undo', '--oracle'],
  ['init codex --undo --oracle-token-file t', '--undo', '--oracle-token-file'],
  ['init claude-code --settings s.json --project', '--settings', '--project'],
  ['init claude-code --system root --project', '--system', '--project'],
  ['oracle token h --task t --revoke', '--revoke', '--task'],
  ['oracle task new d --repo . --fix HEAD --test a', '--fix', '--test'],
  ['oracle log show r1 --task t', 'run', '--task'],
  ['oracle log show r1 --limit 3', 'run', '--limit'],
  ['oracle serve --listen unix:o.sock --tls-cert c --tls-key k', 'unix:o.sock', '--tls-cert'],
  ['deadletter retry --all --topic trace.raw', '--all', '--topic'],
  ['deadletter retry trace.raw/0@1 --all', 'id', '--all'],
  ['flips --follow --limit 3', '--follow', '--limit'],
  ['sql select --json --format csv', '--json', '--format csv'],
  ['replay fresh --from kafka --engine embedded', '--from kafka', '--engine embedded'],
  ['doctor --engine embedded --brokers a:1', '--engine embedded', '--brokers'],
  ['up --engine embedded --registry http://r', '--engine embedded', '--registry'],
  ['up --role streams --accept-gap', '--role streams', '--accept-gap'],
  ['up --role sink --bucket-ms 5', '--role sink', '--bucket-ms'],
])('%s is refused in one sentence, and nothing is done', async (line, ...named) => {
  const ran = await box.flipstream(line.split(' '));
  expect(ran).toMatchObject({ code: 2, out: '' });
  for (const name of named) expect(ran.err).toContain(name);
  expect(ran.err).toMatch(/^[^\n]+\n$/);
});

test('nothing was made by any of them', () => {
  expect(readdirSync(box.root)).toEqual([]);
});

test.each([
  ['deadletter', 'list'],
  ['doctor'],
  ['kafka', 'acls'],
  ['kafka', 'setup'],
  ['replay', 'fresh'],
  ['up'],
])('an engine that is none is refused before anything else: %s', async (...argv) => {
  const ran = await box.flipstream([...argv, '--engine', 'foo']);
  expect(ran).toMatchObject({ code: 2, out: '', err: 'Flags: engine must be embedded or kafka.\n' });
});
